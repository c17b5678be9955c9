package partition

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

var crm = Place{Topic: schemas.DeliverTopic("crm")}

// TestTheHeaderIsTheOneThatTheRouterWrites: its key stands in another package.
func TestTheHeaderIsTheOneThatTheRouterWrites(t *testing.T) {
	moment := time.UnixMilli(1_700_000_000_123)
	r := &kgo.Record{Topic: crm.Topic, Timestamp: moment.Add(time.Hour)}
	kafka.SetHeaders(r, &schemas.Headers{Source: "web", Received: moment})
	p := New(crm, offsets.Done{})
	if got := p.Taken(r); got != moment.UnixMilli() {
		t.Errorf("taken at %d, want %d", got, moment.UnixMilli())
	}
	for _, broken := range []string{"", "x", "1e9", "99999999999999999999"} {
		r.Headers = []kgo.RecordHeader{{Key: headerReceived, Value: []byte(broken)}}
		if got := p.Taken(r); got != r.Timestamp.UnixMilli() {
			t.Errorf("of the header %q: taken at %d, want the record's time", broken, got)
		}
	}
}

func BenchmarkTakenAt(b *testing.B) {
	r := &kgo.Record{Topic: crm.Topic}
	kafka.SetHeaders(r, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m", Received: time.Now()})
	p := New(crm, offsets.Done{})
	b.ReportAllocs()
	for b.Loop() {
		p.Taken(r)
	}
}

// TestACopyDoesNotWasteMemory: a small record is not kept in the memory of a large one,
// for which it would not be charged.
func TestACopyDoesNotWasteMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		room, size int
		again      bool
	}{{100, 100, true}, {150, 100, true}, {99, 100, false}, {300, 100, false}} {
		room := make([]byte, 0, c.room)
		var to kgo.Record
		used := Copy(&to, &kgo.Record{Value: make([]byte, c.size)}, room)
		if again := cap(used) > 0 && &used[:1][0] == &room[:1][0]; again != c.again {
			t.Errorf("%d bytes in room for %d: used again is %t", c.size, c.room, again)
		}
	}
}
