package audit

import (
	"runtime"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// BenchmarkEvents is what an event costs that was routed to two destinations and delivered,
// without reading it from brokers. With -benchtime 10000000x it is of ten million.
func BenchmarkEvents(b *testing.B) {
	const batch = 1000
	l := newLedger(Selection{}, 7, map[int32]*calls{0: newCalls(ranges.Range{End: int64(b.N)}, int64(b.N))})
	defer l.piles.close()
	sent := []journal.Decision{{Destination: "crm", Result: journal.Sent}, {Destination: "mail", Result: journal.Sent}}
	took := func(head *journal.Head, value []byte) {
		r, err := journal.Decode(head.Key(), value)
		if err == nil {
			err = l.record(r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	now := time.Now()
	b.ReportAllocs()
	b.ResetTimer()
	for from := 0; from < b.N; from += batch {
		var all journal.Calls
		var tries [2]journal.Attempts
		next := min(from+batch, b.N)
		for n := from; n < next; n++ {
			fingerprint := uint64(n) * 0x9e3779b97f4a7c15
			all.Add(&journal.Call{Offset: int64(n), Fingerprint: fingerprint, Source: "website", Result: journal.Routed, Decisions: sent})
			for i := range tries {
				tries[i].Add(&journal.Attempt{
					Offset: int64(n), Fingerprint: fingerprint, Destination: sent[i].Destination, Source: "website", Outcome: journal.Delivered,
					Endpoints: 1, Number: 1, At: now,
				})
			}
		}
		head := journal.Head{Stage: "router", Topic: schemas.TopicRawEvents, From: int64(from), Next: int64(next), KeyID: 7, Base: now}
		took(&head, all.Append(nil, &head))
		for i := range tries {
			head.Stage, head.Topic = "webhook-sink", schemas.DeliverTopic(sent[i].Destination)
			took(&head, tries[i].Append(nil, &head))
		}
	}
	if err := l.balance(); err != nil {
		b.Fatal(err)
	}
	for n := range int64(b.N) {
		l.call(0, n, now, nil)
	}
	b.StopTimer()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.Sys>>20), "MiB")
	if rows, missing, doubts := l.result(); len(missing)+len(doubts) > 0 || rows[0].Delivered != int64(b.N) {
		b.Errorf("%v, %v", rows, doubts)
	}
}
