package personas

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/message"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestTimers: who did something is a member, and is none when that is long enough ago, to
// the second, though nobody does anything.
func TestTimers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("shoes_1m", "Shoes Bought", 1, time.Minute)}})
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		bought := time.Now().Truncate(time.Millisecond).UTC()
		b.send(t, b.track("u", "Shoes Bought", bought), b.track("v", "Other", bought))
		entered := told{User: "u", Key: "shoes_1m", Value: "true", Cause: "event", Version: 1, At: bought}
		virtual.Sleep(time.Second)
		if diff := cmp.Diff([]told{entered}, b.heard(t, 1)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		exit := bought.Add(time.Minute)
		virtual.Sleep(time.Until(exit) - time.Second)
		b.heard(t, 1)
		virtual.Sleep(4 * time.Second)
		left := told{User: "u", Key: "shoes_1m", Value: "false", Cause: "timer", Version: 1, At: exit}
		if diff := cmp.Diff([]told{entered, left}, b.heard(t, 2)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestALateTick of a process that stood still between its look at the log and its word: the
// calls that came meanwhile are not behind it.
func TestALateTick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}})
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		b.send(t, b.track("u", "Visit", time.Now()))
		virtual.Sleep(5 * time.Second)
		writer := b.Client(t, manual())
		for num := range int32(partitions) {
			tick := message.Message{Kind: message.Tick, Late: time.Hour.Milliseconds()}
			rec := tick.Record(num, "")
			rec.Timestamp = time.Now().Add(time.Hour)
			if err := writer.ProduceSync(t.Context(), rec).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		virtual.Sleep(10 * time.Second)
		b.heard(t, 1)
		virtual.Sleep(time.Minute)
		b.heard(t, 2)
	})
}

// TestNothingTicks where nothing is defined.
func TestNothingTicks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{})
		r := b.stage(t, b.virtually)
		start(t, r)
		virtual.Sleep(10 * time.Second)
		if nums := r.processor.ticking(); len(r.processor.owned()) == 0 || len(nums) > 0 {
			t.Errorf("of %v tick %v", r.processor.owned(), nums)
		}
	})
}
