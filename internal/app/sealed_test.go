package app

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestASinkWithoutTheKeyHoldsBack what it would deliver unsigned, and serves others: with
// the key again it is all delivered as it should be.
func TestASinkWithoutTheKeyHoldsBack(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, fmt.Sprintf(`
sources: [{id: books, name: Books, writeKey: wk_books}]
destinations:
  - {id: sealed, type: webhooks, name: S, sources: [books], sharedSecret: s3cret, endpoints: [{url: "%[1]s/sealed", headers: {X-Token: t0ken}}]}
  - {id: open, type: webhooks, name: O, sources: [books], endpoints: [{url: "%[1]s/open"}]}
`, receiver.URL))
	without := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WEBHOOK_SINK_RETRY_DELAYS", "100ms")
	key := strings.Repeat("0f", 32)
	call := func(r *running, message string) {
		t.Helper()
		if status := r.post(t, "/v1/track", "wk_books", fmt.Sprintf(`{"userId":"u","event":"e","messageId":%q}`, message)); status != http.StatusOK {
			t.Errorf("%s was answered %d", message, status)
		}
	}
	first := start(t, with(without, "WORKSPACE_FILE", file, "SECRETS_KEY", key))
	call(first, "with")
	receiver.Wait(t, 2)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}

	second := start(t, without)
	call(second, "without")
	receiver.Wait(t, 3)
	leftOut := regexp.MustCompile(`(?m)^anabranch_webhook_sink_left_out_total\{destination="sealed"\} [1-9]`)
	testkit.Until(t, func() bool { return leftOut.MatchString(second.get(t, "/metrics")) }, "an attempt to be left out")
	if metrics := second.get(t, "/metrics"); !strings.Contains(metrics, "anabranch_workspace_locked_destinations 1") {
		t.Error("the destination is not counted as locked")
	}
	if err := second.stop(); err != nil {
		t.Fatal(err)
	}
	if log := second.log.String(); !strings.Contains(log, "can't be decrypted") || !strings.Contains(log, "sealed") {
		t.Errorf("nothing is said of it:\n%s", tail(log, 2000))
	}
	for _, d := range receiver.Wait(t, 3) {
		if d.Path == "/sealed" && bytes.Contains(d.Body, []byte(`"without"`)) {
			t.Errorf("delivered without the key: %s", d.Header)
		}
	}

	third := start(t, with(without, "SECRETS_KEY", key))
	defer func() { _ = third.stop() }()
	late := make(map[string]bool) // a stop that a slow machine cuts short repeats
	for _, d := range receiver.Wait(t, 4) {
		if d.Path == "/sealed" {
			late[string(d.Body)] = true
			if !d.Signed("s3cret") || d.Header.Get("X-Token") != "t0ken" {
				t.Errorf("delivered as %v", d.Header)
			}
		}
	}
	if len(late) != 2 {
		t.Errorf("%d events were delivered, want 2", len(late))
	}
}
