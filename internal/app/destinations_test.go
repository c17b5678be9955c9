package app

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestADestinationIsPausedAndResumed by commands, and stays so while its file is applied and
// the process starts anew. It sets the environment, as a shell does.
func TestADestinationIsPausedAndResumed(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file)
	r := start(t, env)
	setShell(t, env, r)
	expect := func(want string, line ...string) {
		t.Helper()
		if out, err := typed(t, line...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%v: %v, printed %q, want %q in it", line, err, out, want)
		}
	}
	expect("is paused since ", "destinations", "pause", "--by", "ada", "books")
	expect(" by ada: ", "destinations", "pause", "--by", "bob", "books")
	testkit.Until(t, func() bool {
		return strings.Contains(r.get(t, "/metrics"), `anabranch_webhook_sink_paused{destination="books"} 1`)
	}, "the sink to hear of it")
	if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	expect("stays paused, since ", "apply", "-f", file)
	expect("stays paused, since ", "apply", "-f", file, "--dry-run")
	expect("deliveries are paused since ", "status")
	expect(`"by": "ada"`, "status", "--json")
	expect("its deliveries are paused since ", "doctor")
	writeFile(t, file, strings.Replace(books(receiver.URL), "name: ", "name: New ", 1)) // WORKSPACE_FILE is applied again
	testkit.Until(t, func() bool { return strings.Contains(r.log.String(), "workspace changed") }, "the file to be applied again")
	testkit.Until(t, func() bool {
		return strings.Contains(r.get(t, "/metrics"), `anabranch_webhook_sink_lag_records{destination="books"} 1`)
	}, "the event to wait")
	if got := len(receiver.Deliveries()); got != 0 {
		t.Fatalf("%d deliveries in a pause", got)
	}
	expect("is delivered to again; it was paused since ", "destinations", "resume", "books")
	if got := receiver.Wait(t, 1)[0].JSON(t); got["messageId"] != "m1" {
		t.Errorf("delivered %v, want m1", got)
	}
	expect("was not paused", "destinations", "resume", "books")
	expect(`"paused": false`, "destinations", "resume", "--json", "books")
	for _, line := range [][]string{{"pause", "nobody"}, {"pause"}, {"resume", "a", "b"}, {"pause", "Books"}} {
		if out, err := typed(t, append([]string{"destinations"}, line...)...); err == nil {
			t.Errorf("%v printed %q and no error", line, out)
		}
	}
}
