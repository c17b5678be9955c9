package place

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
)

// Waiting are the partitions of which nobody knows where processing has to go
// on: it waits for somebody to say it, or for a leader of theirs. The zero value is
// ready, and may be used by many goroutines.
type Waiting struct {
	mu    sync.Mutex
	parts map[kafka.Partition]bool // for a leader
	told  time.Time                // when the log was told last
}

func (w *Waiting) add(p kafka.Partition, leaderless bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parts == nil {
		w.parts = make(map[kafka.Partition]bool)
	}
	w.parts[p] = leaderless
}

// Drop forgets partitions: they are placed, or somebody else's.
func (w *Waiting) Drop(partitions ...kafka.Partition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range partitions {
		delete(w.parts, p)
	}
}

// Clear forgets all of them.
func (w *Waiting) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.parts)
}

// partitions are those that wait for a leader, or to be told, in order.
func (w *Waiting) partitions(leaderless bool) []kafka.Partition {
	w.mu.Lock()
	defer w.mu.Unlock()
	var parts []kafka.Partition
	for p, waits := range w.parts {
		if waits == leaderless {
			parts = append(parts, p)
		}
	}
	slices.SortFunc(parts, kafka.Partition.Compare)
	return parts
}

// due reports whether the log has to be told now.
func (w *Waiting) due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Sub(w.told) < tellEvery {
		return false
	}
	w.told = now
	return true
}

// tellEvery is between two words in the log that processing waits.
const tellEvery = time.Minute

// Waits says what is waited for; nil: nothing.
func (s *Settings) Waits() error {
	parts := s.Waiting.partitions(false)
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("group %s has no offsets for %v, though events were processed before, and processing waits to be told where to begin: set %s",
		s.Group, parts, s.Start.Variable)
}

// Settled reports whether partitions that wait can be placed now: another process was
// told where to begin, offsets of the group were set, or a partition has a leader again.
// Else it says in the log what is waited for.
func (s *Settings) Settled(ctx context.Context) bool {
	if s.led(ctx) {
		return true
	}
	waits := s.Waits()
	if waits == nil {
		return false
	}
	for _, group := range []string{s.Group, s.Copy} {
		if commits, err := s.commits(ctx, group); err == nil && len(commits) > 0 {
			return true
		}
	}
	if s.Waiting.due(time.Now()) {
		s.Log.Error("it is unknown which events were processed: give one process the setting and restart it",
			"setting", s.Start.Variable, "values", "a time (events taken since then are processed), first (all that the topic holds) or end (nothing of it)",
			"error", waits, "last_written", s.lastWritten(ctx))
	}
	return false
}

// led reports whether a partition has a leader that was waited for.
func (s *Settings) led(ctx context.Context) bool {
	leaderless := s.Waiting.partitions(true)
	if len(leaderless) == 0 {
		return false
	}
	extents, err := s.Topics.Extents(ctx, s.Sources...)
	return err == nil && slices.ContainsFunc(leaderless, func(p kafka.Partition) bool { _, told := extents[p.Topic][p.Num]; return told })
}

// lastWritten is when the last record was written, as far as topics still hold it.
func (s *Settings) lastWritten(ctx context.Context) string {
	topics, err := s.Topics.List(ctx, s.Outputs)
	if err != nil {
		return "unknown"
	}
	newest, err := ranges.Newest(ctx, s.Topics.Client, topics...)
	switch {
	case err != nil:
		return "unknown"
	case newest.IsZero():
		return "before all that " + s.Outputs + "* holds"
	}
	return newest.Format(time.RFC3339)
}
