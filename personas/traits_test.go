package personas

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestValues: of each aggregate the values that users are told, from the first one on to
// the end of the window, when it has none any more. Who never had one is told none.
func TestValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		twice := []string{"12.5", "20", "null"}
		want := map[string][]string{
			"count": {"1", "2", "1", "0"}, "sum": {"12.5", "32.5", "20", "null"}, "avg": {"12.5", "16.25", "20", "null"},
			"min": twice, "max": twice, "first": twice, "last": twice, "most_frequent": twice,
			"unique": {"[12.5]", "[12.5,20]", "[20]", "[]"}, "unique_count": {"1", "2", "1", "0"},
		}
		var d engine.Definitions
		for take := range want {
			d.Traits = append(d.Traits, trait(definition.Aggregate(take), "total", 10*time.Minute))
		}
		b := newBench(t, testkit.Virtual(t), d)
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		for _, total := range []string{"12.5", "20"} {
			b.send(t, b.call(schemas.TypeTrack, "u", time.Now(), fmt.Sprintf(`"event":"Order","properties":{"total":%s}`, total)), b.track("nobody", "Other", time.Now()))
			virtual.Sleep(5 * time.Second)
		}
		virtual.Sleep(15 * time.Minute)
		n := 0
		for _, list := range want {
			n += len(list)
		}
		got := make(map[string][]string)
		for _, change := range b.heard(t, n) {
			if change.User != "u" {
				t.Errorf("%+v", change)
			}
			got[change.Key] = append(got[change.Key], change.Value)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		b.stable(t)
	})
}

// stable checks that all that was told is as ingest writes it.
func (b *bench) stable(t *testing.T) {
	t.Helper()
	for _, rec := range b.all(t, schemas.TopicRawEvents) {
		h, err := kafka.HeadersOf(rec)
		if err != nil || h.Origin != schemas.OriginPersonas {
			continue
		}
		if stable, err := stablejson.Append(nil, rec.Value); err != nil || string(stable) != string(rec.Value) {
			t.Errorf("%s\nis %s in stable order (%v)", rec.Value, stable, err)
		}
	}
}

// trait is one of the orders within a time, whose id is what it takes.
func trait(take definition.Aggregate, of string, within time.Duration) engine.Trait {
	c := engine.Trait{Trait: definition.Trait{Common: common(string(take)), Take: take, Event: trackEvent("Order", within), AtLeast: 1, MaxValues: 100}, Version: 1}
	if take != definition.Count {
		c.Of = definition.Path{of}
	}
	return c
}

// TestEvery: the first value is told at once, the next no sooner than the time that the
// definition says, and then the last one alone. A value that is taken as it is stays what
// ingest wrote of it.
func TestEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hourly := trait(definition.Last, "total", 0)
		hourly.AtMostEvery, hourly.Send = time.Hour, definition.SendBoth
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{hourly}})
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		first := time.Now().Truncate(time.Millisecond).UTC()
		for _, total := range []string{`"a"`, `{"10":1,"9":"ü\n"}`, `[true,null,1e+30]`} {
			b.send(t, b.call(schemas.TypeTrack, "u", time.Now(), fmt.Sprintf(`"event":"Order","properties":{"total":%s}`, total)))
			virtual.Sleep(5 * time.Minute)
		}
		b.heard(t, 2)
		virtual.Sleep(time.Hour)
		var got []told
		for _, change := range b.heard(t, 4) {
			if change.Value != "" { // what a track call says is not in its traits
				got = append(got, change)
			}
		}
		want := []told{
			{"u", "last", `"a"`, "event", 1, first},
			{"u", "last", `[true,null,1e+30]`, "timer", 1, first.Add(time.Hour)},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		b.stable(t)
	})
}
