package personas

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// kept is how many offsets the changelog has.
func (b *bench) kept(t *testing.T) (n int64) {
	t.Helper()
	extents, err := ranges.List(t.Context(), b.client, schemas.TopicPersonasChangelog, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range extents {
		n += of.End - of.Start
	}
	return n
}

// TestNothingIsKeptWithoutDefinitions, but that a user was deleted; and what came meanwhile
// counts for a definition that comes later, once, with and without a restart in between.
func TestNothingIsKeptWithoutDefinitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{})
		stop := start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		orders := func() {
			for range 5 {
				b.send(t, b.order("u", "a"), b.order("v", ""), b.order("w", ""))
				virtual.Sleep(time.Second)
			}
		}
		orders()
		once := b.kept(t)
		if once > 2*partitions {
			t.Errorf("%d records and markers of %d partitions", once, partitions)
		}
		orders()
		stop()
		stop = start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		orders()
		if n := b.kept(t); n != once {
			t.Errorf("%d records and markers, want %d as before", n, once)
		}
		b.send(t, b.forget("r1", "w"))
		virtual.Sleep(time.Second)
		if n := b.kept(t); n != once+3 {
			t.Errorf("a deletion made %d records and markers, want 3", n-once)
		}
		stop()
		start(t, b.stage(t, b.virtually))
		b.definitions.Store(&engine.Definitions{Traits: []engine.Trait{counted()}})
		virtual.Sleep(20 * time.Second)
		b.send(t, b.order("v", ""), b.order("w", ""))
		virtual.Sleep(5 * time.Second)
		want := map[string][]string{"u": {"15"}, "v": {"15", "16"}, "w": {"1"}}
		if diff := cmp.Diff(want, values(b.heard(t, 4), "orders")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
