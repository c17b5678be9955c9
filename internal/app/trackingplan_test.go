package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// planned is a workspace whose plan wants a plan of everybody who signs up.
func planned(url string) string {
	const key = "writeKey: wk_books"
	return strings.Replace(books(url), key, key+", trackingPlan: {action: block, events: {Signed Up: {properties: {plan: {type: string, required: true}}}}}", 1)
}

// TestBlockedCallsAreRedriven is what a person does who finds that a tracking plan
// is too strict: look at what it blocked, and let it through after all.
func TestBlockedCallsAreRedriven(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, planned(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	r := start(t, env)
	setShell(t, env, r)
	for _, call := range []string{
		`{"userId":"u","event":"Signed Up","messageId":"m1","properties":{"plan":"free"}}`,
		`{"userId":"u","event":"Signed Up","messageId":"m2","properties":{"plan":2}}`,
	} {
		if status := r.post(t, "/v1/track", "wk_books", call); status != http.StatusOK {
			t.Fatalf("the call was answered %d: %s", status, call)
		}
	}
	if got := receiver.Wait(t, 1)[0].JSON(t); got["messageId"] != "m1" {
		t.Errorf("delivered %v, want m1", got)
	}
	// No need to wait: the answer to the call says that it is stored.
	listed := deadLetters(t, "list", "--json", "--reason", "plan_violation")
	var line map[string]any
	if err := json.Unmarshal([]byte(listed), &line); err != nil || line["messageId"] != "m2" || line["destination"] != "" || line["source"] != "books" {
		t.Fatalf("list --json printed %s (%v)", listed, err)
	}
	if shown := deadLetters(t, "show", fmt.Sprint(line["id"])); !strings.Contains(shown, "properties.plan: found a number, expected a string") {
		t.Errorf("show printed\n%s", shown)
	}
	typedHas(t, "violations --source books", "properties.plan: found a number, expected a string", "0 calls were marked and 1 blocked", "m2")
	if done := deadLetters(t, "redrive", "--reason", "plan_violation"); !strings.Contains(done, "redriven 1 of 1") {
		t.Errorf("redrive printed\n%s", done)
	}
	if got := receiver.Wait(t, 2)[1].JSON(t); got["messageId"] != "m2" {
		t.Errorf("delivered %v, want m2", got)
	}
}
