package lag

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// watcher looks at one partition every ten seconds.
type watcher struct {
	Standstills
	logs testkit.Logs
}

const watchEvery = 10 * time.Second

func (w *watcher) watch(d time.Duration, next, stable, high int64, held bool) {
	for range d / watchEvery {
		virtual.Sleep(watchEvery)
		w.Look([]Position{{Partition: kafka.Partition{Topic: schemas.TopicRawEvents, Num: 3}, Next: next, Held: held}})
		w.Seen(map[string]map[int32]groups.Lag{schemas.TopicRawEvents: {3: {End: stable}, 4: {End: 9}}},
			map[string]map[int32]int64{schemas.TopicRawEvents: {3: high, 4: 9}}, nil, w.logs.Logger())
	}
}

// expect wants a partition to have stood for a time, and an error with some words;
// none: no error.
func (w *watcher) expect(t *testing.T, stood time.Duration, words ...string) {
	t.Helper()
	if got := w.Longest(); got != stood {
		t.Errorf("stands for %v, want %v", got, stood)
	}
	err := w.Err()
	if len(words) == 0 && err != nil {
		t.Errorf("stands: %v", err)
	}
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("stands: %v, want %q", err, word)
		}
	}
}

// TestAPartitionThatStandsIsAFault: what readers see ends where it stands, and only
// the log goes on, or they see more and get nothing.
func TestAPartitionThatStandsIsAFault(t *testing.T) {
	for cause, stable := range map[string]int64{"an open transaction": 10, "readable, but are not being read": 30} {
		synctest.Test(t, func(t *testing.T) {
			var w watcher
			w.watch(time.Minute, 10, stable, 20, false)
			w.expect(t, 50*time.Second)
			w.watch(20*time.Second, 10, stable, 30, false)
			w.expect(t, 70*time.Second, "raw-events[3] has stood at offset 10 for 1m10s", "up to 30", cause)
			w.watch(time.Minute, 10, stable, 30, false)
			if w.logs.Count("stands still") != 1 || w.logs.Count("makes progress again") != 0 {
				t.Errorf("want one word on it:\n%s", &w.logs)
			}
			w.watch(watchEvery, 12, 30, 30, false)
			w.expect(t, 0)
			if w.logs.Count("makes progress again") != 1 {
				t.Errorf("want a word that it moves again:\n%s", &w.logs)
			}
		})
	}
}

// TestProgressIsNoStandstill however far a partition is behind. Neither is rest, nor
// a partition that is held on purpose.
func TestProgressIsNoStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		for n := range int64(20) {
			w.watch(50*time.Second, n, 1000, 1000, false)
			w.expect(t, 40*time.Second)
		}
		w.watch(10*time.Minute, 1000, 1000, 1000, false)
		w.expect(t, 0)
		w.watch(50*time.Second, 1000, 1000, 1001, false)
		w.expect(t, 40*time.Second)
		w.watch(10*time.Minute, 1000, 1000, 1001, true)
		w.expect(t, 0)
		w.watch(50*time.Second, 1000, 1000, 1001, false)
		w.expect(t, 50*time.Second)
	})
}

// TestSilentBrokersAreNoStandstill of ours, nor are they one when they answer again.
func TestSilentBrokersAreNoStandstill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		w.watch(time.Minute, 10, 20, 20, false)
		virtual.Sleep(10 * time.Minute)
		w.Seen(nil, nil, errors.New("no broker answers"), w.logs.Logger())
		w.watch(watchEvery, 10, 20, 20, false)
		w.expect(t, watchEvery)
		w.watch(time.Minute, 10, 20, 20, false)
		w.expect(t, 70*time.Second, "has stood")
		w.Seen(nil, nil, errors.New("no broker answers"), w.logs.Logger())
		w.watch(watchEvery, 10, 20, 20, false)
		if w.logs.Count("makes progress again") != 0 {
			t.Errorf("a look that failed is taken for progress:\n%s", &w.logs)
		}
	})
}

// TestAPartitionThatLeftIsForgotten: its standstill is its next owner's to see.
func TestAPartitionThatLeftIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w watcher
		w.watch(2*time.Minute, 10, 20, 20, false)
		w.Look(nil)
		w.expect(t, 0)
	})
}
