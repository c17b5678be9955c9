package ingest

import (
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestAWrongClockIsCorrectedCountedAndTold has a device that is a day ahead send
// what happened ten seconds ago.
func TestAWrongClockIsCorrectedCountedAndTold(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	got := s.post(t, "/v1/b", `{"batch":[{"type":"identify","userId":"u","timestamp":"2026-11-22T12:00:00Z"},{"type":"identify","userId":"u"}],"sentAt":"2026-11-22T12:00:10Z"}`)
	if got.body != success {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if stored := s.stored(t, 2)[0]; !strings.Contains(stored, `"timestamp":"2026-11-21T11:59:50.000Z"`) {
		t.Errorf("stored %s", stored)
	}
	if got := testkit.Counters(t, s.registry)["anabranch_ingest_skewed_clocks_total"]; got != 2 {
		t.Errorf("counted %v events", got)
	}
	if !strings.Contains(s.log.String(), "source=website ahead=24h0m10s events=2") {
		t.Errorf("logged %s", s.log)
	}
}
