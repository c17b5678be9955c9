package app

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/doctor"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestStatusOfADestinationThatIsDown is what a person sees while a receiver fails,
// and after it was mended. It sets the environment, as a shell does.
func TestStatusOfADestinationThatIsDown(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	receiver.Respond(testkit.Statuses(http.StatusServiceUnavailable))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WORKSPACE_FILE", file, "WEBHOOK_SINK_RETRY_DELAYS", "1s")
	r := start(t, env)
	setShell(t, env, r)
	for range 10 {
		if code := r.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Signed Up"}`); code != http.StatusOK {
			t.Fatalf("the call was answered %d", code)
		}
	}
	testkit.Until(t, func() bool {
		d := statusOfBooks(t)
		return d.Retrying.Events == 10 && d.Undelivered.Events == 0 && len(d.Failures) == 1 && d.Failures[0].Reason == "status_5xx"
	}, "all ten events to be seen waiting for a retry")
	if out, err := typed(t, "status"); err != nil || !strings.Contains(out, "fix the receiver") || !strings.Contains(out, receiver.URL) {
		t.Errorf("status: %v\n%s", err, out)
	}
	checkDoctor(t)
	receiver.Respond(nil)
	testkit.Until(t, func() bool {
		d := statusOfBooks(t)
		return d.Retrying.Events == 0 && d.Undelivered.Events == 0 && d.FailingSince == nil
	}, "nothing to wait any more")
}

// setShell sets what a person's shell has set who started the process.
func setShell(t *testing.T, env map[string]string, r *running) {
	t.Helper()
	for _, name := range []string{"KAFKA_BROKERS", "DATA_DIR", "WORKSPACE_FILE", "WEBHOOK_SINK_RETRY_DELAYS", "WEBHOOK_SINK_ALLOW_NETWORKS"} {
		t.Setenv(name, env[name])
	}
	if env["KAFKA_BROKERS"] == "" {
		t.Setenv("BROKER_ADDR", find(t, r.screen.String(), `embedded broker\s+([^,]+),`))
	}
}

// statusOfBooks is what status tells programs of the one destination.
func statusOfBooks(t *testing.T) *status.Destination {
	t.Helper()
	out, err := typed(t, "status", "--json")
	var report status.Report
	if err != nil || json.Unmarshal([]byte(out), &report) != nil || len(report.Destinations) != 1 {
		t.Fatalf("status: %v\n%s", err, out)
	}
	return &report.Destinations[0]
}

// checkDoctor: a receiver that fails is nothing that is set up wrong.
func checkDoctor(t *testing.T) {
	t.Helper()
	out, err := typed(t, "doctor", "--json")
	var found doctor.Diagnosis
	if err != nil || json.Unmarshal([]byte(out), &found) != nil || found.Problems > 0 {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}
