package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// TestAnExportIsDelivered as soon as the router has committed it: no sink tells of it. What
// the router gave up is delivered once it was redriven there, and dead until then.
func TestAnExportIsDelivered(t *testing.T) {
	t.Parallel()
	l := newLedger(Selection{}, 0, map[int32]*calls{0: newCalls(ranges.Range{End: 4}, 4)})
	sent := journal.Decision{Destination: "warehouse", Result: journal.Sent, Why: "shop.calls"}
	buried := journal.Decision{Destination: "warehouse", Result: journal.DecisionDead, Why: string(schemas.ReasonTopicUnavailable)}
	head := journal.Head{Stage: "router", Topic: schemas.TopicRawEvents, Next: 4, Base: time.Now()}
	var all journal.Calls
	for i, d := range []journal.Decision{sent, buried, buried, sent} {
		all.Add(&journal.Call{Offset: int64(i), Fingerprint: min(uint64(i), 2), Source: "web", Result: journal.Routed, Decisions: []journal.Decision{d}})
	}
	record, err := journal.Decode(head.Key(), all.Append(nil, &head))
	if err == nil {
		err = l.record(record)
	}
	letters := l.names.of(schemas.TopicDeadLetters)
	for i, again := range []time.Time{{}, time.Now()} {
		if err == nil {
			err = l.bury(place{letters, 0, int64(i)}, schemas.Position{}, uint64(i+1), "warehouse", again, !again.IsZero())
		}
	}
	if err == nil {
		err = l.balance()
	}
	if err != nil {
		t.Fatal(err)
	}
	rows, missing, doubts := l.result()
	want := []Row{{Source: "web", Destination: "warehouse", Accepted: 4, Delivered: 3, Dead: 1}}
	if diff := cmp.Diff(want, rows); diff != "" || len(missing) > 0 {
		t.Errorf("missing %v, in doubt %v (-want +got):\n%s", missing, doubts, diff)
	}
}
