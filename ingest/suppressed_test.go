package ingest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestSuppressedUsers have their calls dropped, and their clients are told that
// all is well: they would send them again.
func TestSuppressedUsers(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	s.handler.suppressed = func(id []byte) bool { return string(id) == "gone" }
	for body, want := range map[string]string{
		`{"batch":[{"type":"identify","userId":"gone"}]}`:                                                                      success,
		`{"batch":[{"type":"identify","userId":"gone"},{"type":"identify","userId":"here"}]}`:                                  success,
		`{"batch":[{"type":"identify","userId":"gone"},{"type":"track","userId":"here","messageId":"m","event":1}]}`:           `{"success":true,"rejected":[{"index":1,"messageId":"m","code":"event_not_string","message":"track: found a number for event, expected a string"}]}`,
		`{"batch":[{"type":"alias","userId":"here","previousId":"gone"},{"type":"identify","userId":1,"anonymousId":"gone"}]}`: success,
	} {
		if got := s.post(t, "/v1/batch", body); got.status != 200 || got.body != want {
			t.Errorf("%s: got %d %s", body, got.status, got.body)
		}
	}
	if stored := strings.Join(s.stored(t, 2), "\n"); strings.Contains(stored, `"userId":"gone"`) {
		t.Errorf("stored %s", stored)
	}
	got := map[string]float64{}
	for _, result := range []string{"accepted", "rejected", "suppressed"} {
		got[result] = s.value(t, "anabranch_ingest_events_total", result)
	}
	if diff := cmp.Diff(map[string]float64{"accepted": 2, "rejected": 1, "suppressed": 4}, got); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
	if strings.Contains(s.log.String(), "gone") {
		t.Errorf("the log names a user: %s", s.log)
	}
}
