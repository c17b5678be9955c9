package app

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// ask sends a request to the admin listener and returns status and body.
func (r *running) ask(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.admin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
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

// regulate asks for a regulation and returns its id.
func (r *running) regulate(t *testing.T, kind string, users ...string) string {
	t.Helper()
	ids, err := json.Marshal(users)
	if err != nil {
		t.Fatal(err)
	}
	status, text := r.ask(t, http.MethodPost, "/regulations", fmt.Sprintf(`{"regulationType":%q,"subjectType":"USER_ID","subjectIds":%s}`, kind, ids),
		"Authorization", "Bearer "+r.token)
	if status != http.StatusOK {
		t.Fatalf("%s was answered %d %s", kind, status, text)
	}
	return find(t, text, `^\{"data":\{"regulateId":"([^"]+)"\}\}\n$`)
}

func (r *running) awaitFinished(t *testing.T, id string) {
	t.Helper()
	testkit.Until(t, func() bool {
		_, text := r.ask(t, http.MethodGet, "/regulations/"+id, "", "Authorization", "Bearer "+r.token)
		return strings.Contains(text, `"overallStatus":"FINISHED"`)
	}, "the regulation to be finished")
}

// twoShops have two sources and three destinations, one of them off.
func twoShops(url string) string {
	return strings.ReplaceAll(`
sources:
  - {id: books, name: Books, writeKey: wk_books}
  - {id: music, name: Music, writeKey: wk_music}
  - {id: lonely, name: Lonely, writeKey: wk_lonely}
destinations:
  - {id: both, type: webhooks, name: Both, sources: [books, music], sharedSecret: s3cret, endpoints: [{url: "URL/both"}]}
  - {id: one, type: webhooks, name: One, sources: [music], endpoints: [{url: "URL/one"}]}
  - {id: none, type: webhooks, name: None, sources: [books], enabled: false, endpoints: [{url: "URL/none"}]}
`, "URL", url)
}

// TestDeletionReachesEveryDestination is a deletion request from the API to the
// signed notifications: one for each source and destination.
func TestDeletionReachesEveryDestination(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, twoShops(receiver.URL))
	r := start(t, with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8"))

	id := r.regulate(t, "SUPPRESS_WITH_DELETE", "u1", "ü<\"", "u1")
	r.awaitFinished(t, id)
	got := make(map[string]int)
	messages := make(map[string]bool)
	for _, d := range receiver.Wait(t, 6) {
		body := d.JSON(t)
		if keys := slices.Sorted(maps.Keys(body)); !slices.Equal(keys, []string{"messageId", "timestamp", "type", "userId"}) || body["type"] != "delete" {
			t.Errorf("delivered %s", d.Body)
		}
		if d.Path == "/both" && !d.Signed("s3cret") {
			t.Errorf("%s is not signed", d.Body)
		}
		got[fmt.Sprintf("%s %s", d.Path, body["userId"])]++
		messages[body["messageId"].(string)] = true
	}
	want := map[string]int{"/both u1": 2, "/one u1": 1, "/both ü<\"": 2, "/one ü<\"": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
	if len(messages) != 4 { // two sources, two users
		t.Errorf("%d different messageIds, want 4", len(messages))
	}
	for _, log := range []string{r.log.String(), r.get(t, "/metrics")} {
		if strings.Contains(log, `ü<`) {
			t.Error("a log line or a metric names a user")
		}
	}
}

// TestSuppressedUsersStaySuppressed over a restart, until they are unsuppressed.
func TestSuppressedUsersStaySuppressed(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8")
	call := func(r *running, user, message string) {
		t.Helper()
		body := fmt.Sprintf(`{"userId":%q,"event":"e","messageId":%q}`, user, message)
		if status := r.post(t, "/v1/track", "wk_books", body); status != http.StatusOK {
			t.Errorf("%s was answered %d", body, status)
		}
	}
	first := start(t, env)
	call(first, "u1", "before")
	first.regulate(t, "SUPPRESS_ONLY", "u1")
	call(first, "u1", "suppressed")
	call(first, "u2", "another")
	if status := first.post(t, "/v1/alias", "wk_books", `{"userId":"u3","previousId":"u1"}`); status != http.StatusOK {
		t.Errorf("an alias was answered %d", status)
	}
	if metrics := first.get(t, "/metrics"); !strings.Contains(metrics, `anabranch_ingest_events_total{result="suppressed"} 2`) {
		t.Error("the calls are not counted as suppressed")
	}
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	second := start(t, env)
	call(second, "u1", "after the restart")
	second.regulate(t, "UNSUPPRESS", "u1")
	call(second, "u1", "at last")

	var messages []string
	for _, d := range receiver.Wait(t, 3) {
		messages = append(messages, d.JSON(t)["messageId"].(string))
	}
	slices.Sort(messages)
	if diff := cmp.Diff([]string{"another", "at last", "before"}, messages); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

// TestATokenIsMade: without ADMIN_TOKEN what counts is a file that only our user may
// read, not where a request comes from.
func TestATokenIsMade(t *testing.T) {
	t.Parallel()
	env := with(environment(t), "KAFKA_BROKERS", "", "ADMIN_TOKEN", "")
	r := start(t, env)
	file := filepath.Join(env["DATA_DIR"], "admin-token")
	if !strings.Contains(r.screen.String(), "asks for the token in "+file) {
		t.Errorf("the greeting does not name it: %s", r.screen)
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("%s: %v, %v", file, info, err)
	}
	if status, _ := r.ask(t, http.MethodGet, "/regulations/x", ""); status != http.StatusUnauthorized {
		t.Errorf("from this machine, without a token: %d", status)
	}
	if status, _ := r.ask(t, http.MethodGet, "/regulations/x", "", "Authorization", "Bearer "+r.token); status != http.StatusNotFound {
		t.Errorf("with the token: %d", status)
	}
	if strings.Contains(r.log.String()+r.screen.String(), r.token) {
		t.Error("it is shown")
	}
}

// TestAdminToken: with one set, it is what counts.
func TestAdminToken(t *testing.T) {
	t.Parallel()
	r := start(t, with(environment(t), "ADMIN_TOKEN", "zqAdminToken7"))
	const body = `{"regulationType":"SUPPRESS_ONLY","subjectType":"USER_ID","subjectIds":["u1"]}`
	if status, text := r.ask(t, http.MethodPost, "/regulations", body); status != http.StatusUnauthorized || !strings.Contains(text, "ADMIN_TOKEN") {
		t.Errorf("without a token: %d %s", status, text)
	}
	status, text := r.ask(t, http.MethodPost, "/regulations", body, "Authorization", "Bearer zqAdminToken7")
	if status != http.StatusOK {
		t.Fatalf("with the token: %d %s", status, text)
	}
	id := find(t, text, `"regulateId":"([^"]+)"`)
	if status, _ := r.ask(t, http.MethodGet, "/regulations/"+id, ""); status != http.StatusUnauthorized {
		t.Errorf("a status without a token: %d", status)
	}
	if status, _ := r.ask(t, http.MethodGet, "/metrics", ""); status != http.StatusOK {
		t.Errorf("the metrics: %d", status)
	}
	if strings.Contains(r.log.String(), "zqAdminToken7") {
		t.Error("the log tells the token")
	}
}
