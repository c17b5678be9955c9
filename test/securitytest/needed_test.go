package securitytest

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/app"
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// told is how long a stage may take to say that it lacks a permission. By itself it
// takes less than a second; this is for a machine that is busy with other things.
const told = 20 * time.Second

// TestEachRuleIsNeeded takes each rule away in turn: the role that it is of then
// says, in its log or its error, that it lacks an ACL, and where they are listed. Rules to create topics, or to look at their settings, are
// needed for no more than that.
func TestEachRuleIsNeeded(t *testing.T) {
	n := secured(t)
	y := newYard(t, n)
	y.allowAll(t, true)
	y.backlog(t)
	y.known = y.status(t)
	for _, role := range app.Roles(app.Stages()) {
		for _, rule := range role.Rules {
			if rule.Creates || rule.Operation == kmsg.ACLOperationDescribeConfigs || !tried(role.Name, rule) {
				continue
			}
			t.Run(role.Name+" without "+rule.String(), func(t *testing.T) {
				y.forbid(t, y.who[role.Name].principal, rule)
				defer y.allow(t, y.who[role.Name].principal, rule)
				if role.Name == "status" {
					y.statusKnowsLess(t)
					return
				}
				if said := y.lacking(t, role.Name); !strings.Contains(said, "docs/brokers.md") {
					t.Errorf("nothing tells that an ACL is missing:\n%s", said)
				}
			})
		}
	}
}

// tried tells whether the yard gives a role occasion to need a rule. The router writes what
// it remembers of calls later than these tests wait for a word. Brokers leave topics that
// may not be seen out of a list of those of a family, as if there were none. What stages
// need for replays they need when one runs, and none does. A plan is printed by whoever may
// not keep it.
func tried(role string, rule acl.Rule) bool {
	switch {
	case role == "replay plan" && rule.Name == schemas.TopicReplays:
		return false
	case rule.Name == schemas.ReplayPrefix, role == "router" && (rule.Name == schemas.TopicReplays || rule.Name == schemas.SinkGroup):
		return false
	case role == "router" && rule.Name == schemas.TopicJournal && rule.Operation == kmsg.ACLOperationRead:
		return false
	}
	if (role == "audit" || role == "trace") && rule.Prefixed {
		return false
	}
	return rule.Name != schemas.TopicSeen || rule.Operation != kmsg.ACLOperationWrite
}

// backlog leaves something to do for each stage and command: calls that are not
// routed, events that are not delivered, dead letters of two kinds.
func (y *yard) backlog(t *testing.T) {
	t.Helper()
	y.receiver.Respond(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	y.apply(t)
	in, router, sink := y.start(t, "ingest").ready(t), y.start(t, "router").ready(t), y.start(t, "webhook-sink").ready(t)
	personas := y.start(t, "personas").ready(t) // who has been there restores what it has
	y.unfolded(t)
	y.holds(t, schemas.TopicRawEvents, `"traits":{"sign_ups":1}`)
	personas.stop(t)
	y.call(t, in, "Signed Up")
	y.listed(t, `"status_4xx"`)
	// One that was redriven leaves a mark: a topic without marks need not be read.
	y.listed(t, `"`+y.call(t, in, "Unplanned")+`"`)
	y.command(t, "dead-letters redrive", "--reason", "plan_violation")
	y.listed(t, `"`+y.call(t, in, "Unplanned")+`"`)
	sink.stop(t)
	routed := y.call(t, in, "Signed Up")
	y.holds(t, "deliver.flaky", routed)
	router.stop(t)
	y.call(t, in, "Signed Up")
	in.stop(t)
	y.command(t, "import start", y.rows(t)) // another one reads how far this came
}

// lacking has a role do what it does and returns what it says of it, as soon as
// that is of ACLs.
func (y *yard) lacking(t *testing.T, role string) string {
	t.Helper()
	args := map[string][]string{
		"apply":                {"-f", y.changedFile(t)},
		"dead-letters list":    nil,
		"dead-letters redrive": {"--all"},
		"destinations pause":   {"bad"},
		"personas list":        nil,
		"personas resync":      {"--destination", "told", "sign_ups"},
		"import start":         {y.rows(t)},
		"replay plan":          nil,
		"replay start":         {"--only", "missing"},
		"audit":                nil,
		"trace":                {"m1"},
		"test-send":            {"--event", "m1", "good"},
	}
	flags, command := args[role]
	if !command {
		return y.lackingStage(t, role)
	}
	name := strings.Replace(role, "personas list", "personas check", 1) // of the same role, and it reads all
	out, err := run(t, y.environment(role), append(strings.Fields(name), flags...)...)
	if err == nil {
		t.Errorf("the command succeeded:\n%s", out)
	}
	return out
}

// lackingStage also asks ingest for a deletion, once it takes requests.
func (y *yard) lackingStage(t *testing.T, target string) string {
	t.Helper()
	if target == "personas" {
		y.unfolded(t)
	}
	s := y.start(t, target)
	defer func() { _ = s.cmd.Process.Kill() }()
	deadline := time.Now().Add(told)
	asked := false
	testkit.Until(t, func() bool {
		if target == "ingest" && !asked && s.says("ready") {
			asked = true
			ask(t, "http://"+s.admin+"/regulations", `{"regulationType":"DELETE_ONLY","subjectType":"USER_ID","subjectIds":["u"]}`)
		}
		return strings.Contains(s.log.String(), "docs/brokers.md") || time.Now().After(deadline)
	}, "a word about ACLs")
	return s.log.String()
}

// changedFile is a workspace that is not in force yet.
func (y *yard) changedFile(t *testing.T) string {
	t.Helper()
	y.calls++
	text, err := os.ReadFile(y.file)
	if err != nil {
		t.Fatal(err)
	}
	file := y.file + ".changed"
	name := strings.Repeat("x", y.calls)
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "name: Web", "name: "+name, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// status returns what `status` prints, without times and ages.
func (y *yard) status(t *testing.T) string {
	t.Helper()
	out, _ := run(t, y.environment("status"), "status") // which fails where something is to be done
	return ages.ReplaceAllString(out, "")
}

var ages = regexp.MustCompile(`\d+(\.\d+)?(ms|s|m|h)+|\d+:\d+:\d+Z| +`)

// statusKnowsLess: brokers leave what may not be seen out of their answers, so what
// it lacks `status` does not always know.
func (y *yard) statusKnowsLess(t *testing.T) {
	t.Helper()
	if out := y.status(t); out == y.known {
		t.Errorf("status prints the same with the rule and without:\n%s", out)
	}
}
