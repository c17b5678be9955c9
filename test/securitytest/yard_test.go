package securitytest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// yard is the whole product on the secured broker, each role under a principal of
// its own, and a receiver that likes what comes to /good, likes only repeats of what
// comes to /flaky, and refuses what comes to /bad.
type yard struct {
	*node

	who      map[string]identity // by role
	receiver *testkit.Receiver
	file     string // the workspace
	kept     string // the directory of the archive
	calls    int
	known    string // what status prints
	since    int64  // the length of the broker's log at the start
}

const workspaceFile = `
sources:
  - id: web
    name: Web
    writeKey: wk_web
    trackingPlan: {action: block, events: {Signed Up: {}}, additionalEvents: false}
destinations:
  - {id: good, type: webhooks, name: Good, sources: [web], endpoints: [{url: "URL/good"}]}
  - {id: flaky, type: webhooks, name: Flaky, sources: [web], endpoints: [{url: "URL/flaky"}]}
  - {id: bad, type: webhooks, name: Bad, sources: [web], endpoints: [{url: "URL/bad"}]}
  - {id: told, type: webhooks, name: Told, sources: [personas], endpoints: [{url: "URL/told"}]}
  - {id: kept, type: archive, name: Kept, sources: [web], archive: {directory: "KEPT", maxAge: 1s}}
audiences:
  - {id: newcomers, when: {did: Signed Up, within: 2s}}
traits:
  - {id: sign_ups, take: count, did: Signed Up}
`

func newYard(t *testing.T, n *node) *yard {
	t.Helper()
	n.empty(t)
	y := &yard{node: n, since: n.logged(t), receiver: testkit.NewReceiver(t), file: filepath.Join(t.TempDir(), "workspace.yaml"), kept: t.TempDir()}
	y.receiver.Respond(moody())
	text := strings.NewReplacer("URL", y.receiver.URL, "KEPT", y.kept).Replace(workspaceFile)
	if err := os.WriteFile(y.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	y.who = n.principals(t)
	return y
}

// principals are who the roles are; between them they use each way to be known.
func (n *node) principals(t *testing.T) map[string]identity {
	t.Helper()
	return map[string]identity{
		"ingest":               n.certified(t, "ingest"),
		"router":               n.scram(t, kadm.ScramSha512, "router"),
		"personas":             n.scram(t, kadm.ScramSha512, "personas"),
		"webhook-sink":         n.scram(t, kadm.ScramSha256, "sink"),
		"archive":              n.certified(t, "archive"),
		"apply":                n.plain(),
		"dead-letters list":    n.certified(t, "list"),
		"dead-letters redrive": n.scram(t, kadm.ScramSha512, "redrive"),
		"destinations pause":   n.certified(t, "pause"),
		"personas list":        n.certified(t, "asks"),
		"personas resync":      n.scram(t, kadm.ScramSha256, "resync"),
		"import start":         n.certified(t, "import"),
		"replay plan":          n.certified(t, "replay-plan"),
		"replay start":         n.certified(t, "replay"),
		"audit":                n.certified(t, "audit"),
		"status":               n.certified(t, "status"),
		"trace":                n.scram(t, kadm.ScramSha256, "trace"),
		"test-send":            n.certified(t, "test-send"),
	}
}

// moody answers as the paths of the workspace's endpoints say.
func moody() http.Handler {
	var mu sync.Mutex
	seen := make(map[string]bool)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		again := seen[r.URL.Path+string(body)]
		seen[r.URL.Path+string(body)] = true
		mu.Unlock()
		switch {
		case r.URL.Path == "/bad":
			w.WriteHeader(http.StatusBadRequest)
		case r.URL.Path == "/flaky" && !again:
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
}

// empty deletes all topics, groups and rules of earlier tests.
func (n *node) empty(t *testing.T) {
	t.Helper()
	admin := n.admin(t)
	all := kadm.NewACLs().AnyResource().ResourcePatternType(kadm.ACLPatternAny).Operations().Allow().AllowHosts().Deny().DenyHosts()
	if _, err := admin.DeleteACLs(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	n.deleteTopics(t, "")
	testkit.Until(t, func() bool {
		groups, err := admin.ListGroups(t.Context())
		if err == nil && len(groups) > 0 {
			_, err = admin.DeleteGroups(t.Context(), groups.Groups()...)
		}
		return err == nil && len(groups) == 0
	}, "a broker without groups")
}

// deleteTopics deletes the topics whose names begin with prefix.
func (n *node) deleteTopics(t *testing.T, prefix string) {
	t.Helper()
	admin := n.admin(t)
	testkit.Until(t, func() bool {
		topics, err := admin.ListTopics(t.Context())
		names := slices.DeleteFunc(topics.Names(), func(name string) bool { return !strings.HasPrefix(name, prefix) })
		if err == nil && len(names) > 0 {
			_, err = admin.DeleteTopics(t.Context(), names...)
		}
		return err == nil && len(names) == 0
	}, "topics "+prefix+" to be gone")
}

// has waits until a topic exists.
func (n *node) has(t *testing.T, topic string) {
	t.Helper()
	admin := n.admin(t)
	testkit.Until(t, func() bool {
		topics, err := admin.ListTopics(t.Context())
		return err == nil && topics.Has(topic)
	}, "topic "+topic+" to exist")
}

// allowAll allows every role what the list says; create tells whether to create
// topics too.
func (y *yard) allowAll(t *testing.T, create bool) {
	t.Helper()
	for _, role := range app.Roles(app.Stages()) {
		var rules []acl.Rule
		for _, r := range role.Rules {
			if create || !r.Creates {
				rules = append(rules, r)
			}
		}
		y.allow(t, y.who[role.Name].principal, rules...)
	}
}

func (y *yard) environment(role string) map[string]string {
	env := map[string]string{
		"INGEST_ADDR": "127.0.0.1:0", "ADMIN_ADDR": "127.0.0.1:0", "ADMIN_TOKEN": adminToken, "INSTANCE_ID": "one",
		"WEBHOOK_SINK_ALLOW_NETWORKS": "127.0.0.0/8", "WEBHOOK_SINK_RETRY_DELAYS": "300ms", "TOPIC_PARTITIONS": "2",
		"PERSONAS_STORE": "memory",
	}
	maps.Copy(env, y.who[role].environment(nil))
	return env
}

func (y *yard) start(t *testing.T, target string) *stage {
	t.Helper()
	return launch(t, target, y.environment(target))
}

// command runs a command as the role of its name.
func (y *yard) command(t *testing.T, role string, more ...string) string {
	t.Helper()
	out, err := run(t, y.environment(role), append(strings.Fields(role), more...)...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", role, err, out)
	}
	return out
}

// rows is a file of past calls, of which the tracking plan blocks one; each time another.
func (y *yard) rows(t *testing.T) string {
	t.Helper()
	y.calls++
	file := filepath.Join(t.TempDir(), "calls.ndjson")
	text := fmt.Sprintf(`{"type":"track","userId":"i%d","event":"Signed Up"}`+"\n"+`{"type":"track","userId":"i","event":"Unplanned"}`+"\n", y.calls)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// apply puts the workspace in force. A broker that is new makes topics of its own
// for the first transaction, for which a busy machine may need longer than commands
// have patience.
func (y *yard) apply(t *testing.T) {
	t.Helper()
	testkit.Until(t, func() bool {
		out, err := run(t, y.environment("apply"), "apply", "-f", y.file)
		if err != nil && !strings.Contains(out, "deadline exceeded") {
			t.Fatalf("apply: %v\n%s", err, out)
		}
		return err == nil
	}, "the workspace to be in force")
}

// call sends a call and returns its messageId.
func (y *yard) call(t *testing.T, in *stage, event string) string {
	t.Helper()
	y.calls++
	id := fmt.Sprintf("m%d", y.calls)
	body := fmt.Sprintf(`{"userId":"u1","event":%q,"messageId":%q}`, event, id)
	status, text := ask(t, "http://wk_web:@"+in.collect+"/v1/track", body)
	if status != http.StatusOK {
		t.Fatalf("the call was answered %d %s", status, text)
	}
	return id
}

// adminToken is that of all processes.
const adminToken = "the-token-of-the-yard"

// ask sends a body, or asks for a page without one.
func ask(t *testing.T, url, body string) (int, string) {
	t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(req.URL.Path, "/regulations") {
		req.Header.Set("Authorization", "Bearer "+adminToken)
	}
	if req.URL.User != nil {
		req.SetBasicAuth(req.URL.User.Username(), "")
		req.URL.User = nil
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// delivered waits until a path was sent a text n times.
func (y *yard) delivered(t *testing.T, path, text string, n int) {
	t.Helper()
	testkit.Until(t, func() bool {
		count := 0
		for _, d := range y.receiver.Deliveries() {
			if d.Path == path && strings.Contains(string(d.Body), text) {
				count++
			}
		}
		return count == n
	}, fmt.Sprintf("%d deliveries of %s at %s", n, text, path))
}

// listed waits until the list of dead letters holds a text.
func (y *yard) listed(t *testing.T, text string) {
	t.Helper()
	testkit.Until(t, func() bool {
		return strings.Contains(y.command(t, "dead-letters list", "--json"), text)
	}, "a dead letter with "+text)
}

// poison puts a record on raw-events that nobody can route.
func (y *yard) poison(t *testing.T) {
	t.Helper()
	cl := y.super(t)
	if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Value: []byte("{}")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// unfolded puts a call on raw-events that changes who is in the audience, and a trait.
func (y *yard) unfolded(t *testing.T) {
	t.Helper()
	y.calls++
	id, at := fmt.Sprintf("m%d", y.calls), time.Now().UTC().Format(schemas.TimeLayout)
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u3"), Value: fmt.Appendf(nil,
		`{"type":"track","messageId":%q,"userId":"u3","event":"Signed Up","properties":{},"timestamp":%q,"context":{}}`, id, at)}
	kafka.SetHeaders(rec, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI})
	if err := y.super(t).ProduceSync(t.Context(), rec).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// holds waits until a topic holds a text.
func (y *yard) holds(t *testing.T, topic, text string) {
	t.Helper()
	cl := client(t, y.certified(t, "admin").config, kgo.ConsumeTopics(topic))
	found := false
	testkit.Until(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		cl.PollFetches(ctx).EachRecord(func(r *kgo.Record) { found = found || strings.Contains(string(r.Value), text) })
		return found
	}, topic+" to hold "+text)
}

// archived waits until the archive has an object.
func (y *yard) archived(t *testing.T) {
	t.Helper()
	testkit.Until(t, func() bool {
		objects, err := filepath.Glob(filepath.Join(y.kept, "web", "*", "*"+schemas.ArchivedSuffix))
		return err == nil && len(objects) > 0
	}, "an object in the archive")
}
