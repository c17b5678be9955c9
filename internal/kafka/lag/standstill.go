package lag

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
)

// standsAfter is how long a partition may stand still, with records before it and
// brokers that answer, before that counts as a fault. It is far beyond all that a
// partition may have to wait for: the transaction of a killed router is over after
// ROUTER_TRANSACTION_TIMEOUT (ten seconds), a rebalance after fifteen.
const standsAfter = time.Minute

// Standstills tells of partitions that stand still although there are records before
// them. A look is what one has seen of them, and of the brokers, at a moment.
//
// The end that counts is that of the log: behind a transaction that nobody ends, what
// may be read ends where it begins, and to a reader all looks well. The zero value is
// ready. It may be used by many goroutines.
type Standstills struct {
	mu    sync.Mutex
	parts map[kafka.Partition]*standstill
}

// Position is how far a partition was read.
type Position struct {
	kafka.Partition

	Next int64 // the offset to be read next
	// Held is true of one that is not read on purpose: it stands without a fault.
	Held bool
}

// standstill is since when a partition stands where it does.
type standstill struct {
	next         int64
	stable, high int64     // where it ends for readers of what is committed, and for all others
	since        time.Time // when it came there, or began to be watched
	told, moved  bool      // the log knows that it stands, and does not that it moves again
}

func (s *standstill) at(next int64, now time.Time) {
	if next != s.next {
		s.next, s.since, s.moved = next, now, s.told
	}
	if next >= s.high {
		s.since, s.moved = now, s.told
	}
}

func (s *standstill) end(stable, high int64, now time.Time) {
	if s.next >= s.high {
		s.since = now // there was nothing before it until now
	}
	s.stable, s.high = stable, high
	s.at(s.next, now)
}

func (s *standstill) lasts(now time.Time) time.Duration {
	if s.next >= s.high {
		return 0
	}
	return now.Sub(s.since)
}

// Look notes where the partitions of this process are; of all others nothing is known
// any more.
func (s *Standstills) Look(positions []Position) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	ours := make(map[kafka.Partition]*standstill, len(positions))
	for _, p := range positions {
		still := s.parts[p.Partition]
		if still == nil {
			still = &standstill{next: p.Next, since: now}
		}
		still.at(p.Next, now)
		if p.Held {
			still.since = now
		}
		ours[p.Partition] = still
	}
	s.parts = ours
}

// Seen notes what a look at the brokers has found, and says in the log which partitions
// stand still: where they end for readers of what is committed, as the lags say, and for
// all others. An error says that the look failed. How long a partition stands counts
// from when the brokers answer again.
func (s *Standstills) Seen(lags map[string]map[int32]groups.Lag, highs map[string]map[int32]int64, err error, log *slog.Logger) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for at, still := range s.parts {
		if err != nil {
			still.since = now
		} else if high, known := highs[at.Topic][at.Num]; known {
			still.end(lags[at.Topic][at.Num].End, high, now)
		}
	}
	s.tell(now, log)
}

// Longest is the longest time for which a partition has stood still.
func (s *Standstills) Longest() time.Duration {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	longest := time.Duration(0)
	for _, still := range s.parts {
		longest = max(longest, still.lasts(now))
	}
	return longest
}

// Err is about the partition that has stood longest, once that is too long.
func (s *Standstills) Err() error {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	longest := standsAfter
	for at, still := range s.parts {
		if lasts := still.lasts(now); lasts >= longest {
			longest = lasts
			err = fmt.Errorf("%s has stood at offset %d for %s, though the log goes on up to %d: %s",
				at, still.next, lasts.Round(time.Second), still.high, still.cause())
		}
	}
	return err
}

// cause says what it may be that holds a partition.
func (s *standstill) cause() string {
	if s.stable <= s.next {
		return "an open transaction hides the records behind it"
	}
	return "the records are readable, but are not being read"
}

// tell logs partitions that have begun to stand still for too long, and those that
// move again, once each.
func (s *Standstills) tell(now time.Time, log *slog.Logger) {
	for _, at := range slices.SortedFunc(maps.Keys(s.parts), kafka.Partition.Compare) {
		still := s.parts[at]
		lasts := still.lasts(now)
		switch {
		case still.moved:
			still.told, still.moved = false, false
			log.Info("partition makes progress again", "topic", at.Topic, "partition", at.Num, "offset", still.next)
		case !still.told && lasts >= standsAfter:
			still.told = true
			log.Warn("partition stands still", "topic", at.Topic, "partition", at.Num, "offset", still.next,
				"stable", still.stable, "end", still.high, "for", lasts.Round(time.Second), "cause", still.cause())
		}
	}
}
