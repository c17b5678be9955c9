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

// TestDeadLettersAreRedriven is what a person does after a receiver was mended.
// It sets the environment, as a shell does.
func TestDeadLettersAreRedriven(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	receiver.Respond(testkit.Statuses(http.StatusBadRequest))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	r := start(t, env)
	setShell(t, env, r)
	if out := deadLetters(t, "list"); out != "no dead letters\n" {
		t.Errorf("with none list prints %q", out)
	}
	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	id := awaitDeadLetter(t)
	if shown := deadLetters(t, "show", id); !strings.Contains(shown, `"event": "Signed Up"`) {
		t.Errorf("show printed\n%s", shown)
	}
	receiver.Respond(nil)
	before := len(receiver.Deliveries())
	if planned := deadLetters(t, "redrive", "--destination", "books", "--dry-run"); !strings.Contains(planned, "would redrive 1 of 1") {
		t.Errorf("the dry run printed\n%s", planned)
	}
	if done := deadLetters(t, "redrive", id); !strings.Contains(done, "redriven 1 of 1") {
		t.Errorf("redrive printed\n%s", done)
	}
	if got := receiver.Wait(t, before+1)[before].JSON(t); got["messageId"] != "m1" {
		t.Errorf("delivered %v, want m1", got)
	}
	if out, err := typed(t, "dead-letters", "redrive", id); err == nil || !strings.Contains(err.Error(), "1 was redriven before") {
		t.Errorf("a second redrive: %v, printed %q, want a refusal", err, out)
	}
	if listed := deadLetters(t, "list", "--json"); !strings.Contains(listed, "redrivenAt") {
		t.Errorf("afterwards list prints %s", listed)
	}
	for _, count := range []string{
		`anabranch_webhook_sink_deliveries_total{destination="books",result="delivered"} 1`,
		`anabranch_webhook_sink_deliveries_total{destination="books",result="dead"} 1`,
	} {
		testkit.Until(t, func() bool { return strings.Contains(r.get(t, "/metrics"), count) }, count)
	}
	if got := len(receiver.Deliveries()); got != before+1 {
		t.Errorf("%d deliveries, want %d: the dry run or the refused redrive sent something", got, before+1)
	}
}

// awaitDeadLetter waits for the call m1 to be given up and returns the id that list
// prints for programs.
func awaitDeadLetter(t *testing.T) string {
	t.Helper()
	var printed string
	testkit.Until(t, func() bool {
		printed = deadLetters(t, "list", "--json", "--reason", "status_4xx", "--since", "1h")
		return printed != ""
	}, "the event to be in dead-letters")
	var line map[string]any
	if err := json.Unmarshal([]byte(printed), &line); err != nil || line["destination"] != "books" || line["messageId"] != "m1" || line["redrivenAt"] != nil {
		t.Fatalf("list --json printed %s (%v)", printed, err)
	}
	return fmt.Sprint(line["id"])
}

// deadLetters runs a command below dead-letters that is to succeed.
func deadLetters(t *testing.T, args ...string) string {
	t.Helper()
	out, err := typed(t, append([]string{"dead-letters"}, args...)...)
	if err != nil {
		t.Fatalf("dead-letters %v: %v\n%s", args, err, out)
	}
	return out
}
