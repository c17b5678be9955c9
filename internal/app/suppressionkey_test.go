package app

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestSuppressedOverAKey: who was suppressed without a key stays so when there is one, and
// is written under it once they call. Without it they are not recognised, and that is said.
func TestSuppressedOverAKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	receiver := testkit.NewReceiver(t)
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8")
	key, other := strings.Repeat("0f", 32), strings.Repeat("1f", 32)
	call := func(r *running, want string) {
		t.Helper()
		if status := r.post(t, "/v1/track", "wk_books", `{"userId":"u1","event":"e"}`); status != http.StatusOK {
			t.Errorf("answered %d", status)
		}
		if metrics := r.get(t, "/metrics"); !strings.Contains(metrics, fmt.Sprintf("anabranch_ingest_events_total{result=%q} 1", want)) {
			t.Errorf("the call is not %s", want)
		}
	}
	step := func(key, want string, rest func(*running)) {
		t.Helper()
		r := start(t, with(env, "SUPPRESSION_KEY", key))
		call(r, want)
		rest(r)
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(r.log.String(), key) && key != "" {
			t.Error("the log shows the key")
		}
	}
	step("", "accepted", func(r *running) { r.regulate(t, "SUPPRESS_ONLY", "u1") })
	step(key, "suppressed", func(r *running) {
		testkit.Until(t, func() bool {
			return strings.Contains(r.get(t, "/metrics"), "anabranch_ingest_suppressed_users_rekeyed_total 1")
		}, "the user to be written under the key")
	})
	step(other, "accepted", func(r *running) {
		if !strings.Contains(r.log.String(), "SUPPRESSION_KEY of this process lacks") {
			t.Error("the log does not say that a key is missing")
		}
		if !strings.Contains(r.get(t, "/metrics"), "anabranch_ingest_suppressed_users_without_key 1") {
			t.Error("the user is not counted")
		}
		setShell(t, env, r)
		t.Setenv("SUPPRESSION_KEY", other)
		if _, err := typed(t, "dead-letters", "redrive", "--all"); err == nil || !strings.Contains(err.Error(), "users (1) are suppressed under keys that SUPPRESSION_KEY lacks") {
			t.Errorf("redriven without the key: %v", err)
		}
		if _, err := typed(t, "dead-letters", "redrive", "--all", "--ignore-missing-key"); err != nil {
			t.Errorf("told to go on: %v", err)
		}
		if out, err := typed(t, "doctor"); err == nil || !strings.Contains(out, "which SUPPRESSION_KEY lacks here") {
			t.Errorf("doctor: %v\n%s", err, out)
		}
	})
	step(other+","+key, "suppressed", func(r *running) {
		r.regulate(t, "UNSUPPRESS", "u1")
		testkit.Until(t, func() bool {
			return strings.Contains(r.get(t, "/metrics"), "anabranch_ingest_suppressed_users 0")
		}, "nobody to be suppressed")
	})
}
