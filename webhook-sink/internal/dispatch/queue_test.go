package dispatch

import (
	"testing"

	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// TestADestinationEarnsItsSlots: what hangs from the start never gets more than the
// first few.
func TestADestinationEarnsItsSlots(t *testing.T) {
	s := quota.Limits{Each: 4, Total: 100, First: 1}
	f := newFloor(t, s)
	f.own("crm", 0)
	f.give("crm", 0, 0, "a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1")
	f.expect("a1")
	f.finishAs("a1", outcome.Outcome{Verdict: outcome.Retry})
	f.expect("b1")
	f.finishAs("b1", outcome.Outcome{Verdict: outcome.Delivered})
	f.expect("c1", "d1")
	f.finishAs("c1", outcome.Outcome{Verdict: outcome.Delivered})
	f.finishAs("d1", outcome.Outcome{Verdict: outcome.Delivered})
	f.expect("e1", "f1", "g1", "h1") // not a fifth
	f.finishAs("e1", outcome.Outcome{Verdict: outcome.Retry})
	f.expect("f1", "g1", "h1", "i1") // a failure costs nothing
}
