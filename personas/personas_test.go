package personas

import (
	"path/filepath"
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
			tick := message.Message{Kind: message.Tick, At: time.Now().Add(time.Hour).UnixMilli(), Late: time.Hour.Milliseconds()}
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

// TestAStageThatIsNotRun has opened nothing: what starts beside it may fail.
func TestAStageThatIsNotRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t), engine.Definitions{})
	dir := filepath.Join(t.TempDir(), "store")
	kept := func(cfg *Config, _ *Settings) { cfg.Store, cfg.DataDir = storePebble, dir }
	b.stage(t, kept)
	r := b.stage(t, kept)
	stop := start(t, r)
	testkit.Until(t, func() bool { return r.Ready() == nil }, "the second one to be ready")
	stop()
}

// TestACallFromTheFuture, on brokers that take a client's time stamp, moves no clock.
func TestACallFromTheFuture(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, testkit.Virtual(t), engine.Definitions{Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}})
		start(t, b.stage(t, b.virtually))
		virtual.Sleep(5 * time.Second)
		b.send(t, b.track("u", "Visit", time.Now()))
		virtual.Sleep(5 * time.Second)
		for _, event := range []string{"Other", "Visit"} {
			ahead := b.track("u", event, time.Now().Add(time.Hour))
			ahead.Timestamp = time.Now().Add(time.Hour)
			b.send(t, ahead)
			virtual.Sleep(5 * time.Second)
		}
		b.heard(t, 1)
		virtual.Sleep(2 * time.Minute) // the visit of the future was one of now
		b.heard(t, 2)
	})
}

// TestNothingTicks where nothing is due: a process at rest writes nothing.
func TestNothingTicks(t *testing.T) {
	t.Parallel()
	for what, d := range map[string]engine.Definitions{
		"nothing is defined": {},
		"nobody is due":      {Audiences: []engine.Audience{audience("active", "Visit", 1, time.Minute)}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, testkit.Virtual(t), d)
				r := b.stage(t, b.virtually)
				start(t, r)
				virtual.Sleep(10 * time.Second)
				b.send(t, b.track("u", "Visit", time.Now()))
				virtual.Sleep(10 * time.Second)
				if nums := r.processor.ticking(); len(r.processor.owned()) == 0 || len(nums) > 0 {
					t.Errorf("of %v tick %v", r.processor.owned(), nums)
				}
			})
		})
	}
}
