package personas

import (
	"slices"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/emit"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestWhoIsTold: the calls of a definition that names destinations say so, for the router,
// and what is told of one that was deleted does too. Our own calls are no event of the
// user, sent again neither.
func TestWhoIsTold(t *testing.T) {
	t.Parallel()
	narrow := audience("buyers", "Order", 1, 0)
	narrow.Destinations, narrow.Send = []string{"crm", "mail"}, definition.SendBoth
	calls := counted()
	calls.ID, calls.Event.Name = "calls", "Audience Entered"
	b := newBench(t, testkit.Brokers(t), engine.Definitions{Audiences: []engine.Audience{narrow}, Traits: []engine.Trait{calls, counted()}})
	b.begun(t)
	start(t, b.stage(t))
	b.send(t, b.track("u", "Order", time.Now()))
	b.heard(t, 3)
	again := b.track("u", "Audience Entered", time.Now())
	kafka.SetHeaders(again, &schemas.Headers{Source: emit.Source, Type: schemas.TypeTrack, MessageID: "again", Origin: schemas.OriginReplay})
	b.send(t, again, b.track("u", "Order", time.Now()))
	b.heard(t, 4)
	gone := narrow
	gone.Deleted, gone.OnDelete, gone.Version = true, definition.OnDeleteExit, 2
	b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{gone}, Traits: []engine.Trait{calls, counted()}})
	b.heard(t, 6)
	for _, rec := range b.all(t, schemas.TopicRawEvents) {
		h, err := kafka.HeadersOf(rec)
		if err != nil || h.Origin != schemas.OriginPersonas {
			continue
		}
		var want []string
		if read(t, rec).Key == "buyers" {
			want = narrow.Destinations
		}
		if !slices.Equal(h.Only, want) {
			t.Errorf("%s is for %v, want %v", rec.Value, h.Only, want)
		}
	}
}
