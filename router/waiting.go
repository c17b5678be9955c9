package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// waiting are the partitions of which nobody knows where routing has to go on: it
// waits for somebody to say it, or for a leader of theirs. It may be used by many
// goroutines.
type waiting struct {
	mu         sync.Mutex
	parts      []int32
	leaderless []int32
	told       time.Time // when the log was told last
}

func (w *waiting) add(num int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.parts, num) {
		w.parts = append(w.parts, num)
		slices.Sort(w.parts)
	}
}

// mute notes a partition that waits for a leader.
func (w *waiting) mute(num int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Contains(w.leaderless, num) {
		w.leaderless = append(w.leaderless, num)
	}
}

func (w *waiting) forLeader() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.leaderless) > 0
}

// lead reports whether one that waits for a leader has it, by what partitions hold.
func (w *waiting) lead(extents map[int32]kafka.Extent) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.leaderless, func(num int32) bool { _, told := extents[num]; return told })
}

func (w *waiting) drop(partitions ...int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := func(num int32) bool { return slices.Contains(partitions, num) }
	w.parts, w.leaderless = slices.DeleteFunc(w.parts, gone), slices.DeleteFunc(w.leaderless, gone)
}

func (w *waiting) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts, w.leaderless = nil, nil
}

// err says what is waited for; nil: nothing.
func (w *waiting) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.parts) == 0 {
		return nil
	}
	return fmt.Errorf("group %s has no offsets for %s%v, though events were routed before, and routing waits to be told where to begin: set ROUTER_START",
		Group, schemas.TopicRawEvents, w.parts)
}

// due reports whether the log has to be told now.
func (w *waiting) due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.parts) == 0 || now.Sub(w.told) < tellEvery {
		return false
	}
	w.told = now
	return true
}

// tellEvery is between two words in the log that routing waits.
const tellEvery = time.Minute

// errPlaced ends a session that waited to be told where its partitions begin.
var errPlaced = errors.New("it is now known where its partitions begin")

// wait says that routing waits to be told where to begin, and ends the session when
// another router was told, or offsets of the group were set, or when a partition has a
// leader again.
func (r *Router) wait(ctx context.Context) {
	if end := r.end.Load(); end != nil && r.led(ctx) {
		(*end)(errPlaced)
		return
	}
	waits := r.waiting.err()
	if waits == nil {
		return
	}
	for _, group := range []string{Group, Bookmark} {
		commits, err := r.set.Topics.Commits(ctx, group, r.source)
		if end := r.end.Load(); err == nil && len(commits) > 0 && end != nil {
			(*end)(errPlaced)
			return
		}
	}
	if r.waiting.due(time.Now()) {
		r.log.Error("nobody knows which events were routed: set ROUTER_START to a time (events taken since then are routed), first (all that raw-events holds) or end (nothing of it), and restart one router",
			"error", waits, "last_routed", r.lastRouted(ctx))
	}
}

// led reports whether a partition has a leader that was waited for.
func (r *Router) led(ctx context.Context) bool {
	if !r.waiting.forLeader() {
		return false
	}
	extents, err := r.set.Topics.Extents(ctx, r.source)
	return err == nil && r.waiting.lead(extents[r.source])
}

// lastRouted is when the last event was written to a destination's topic, as far as
// these still hold it.
func (r *Router) lastRouted(ctx context.Context) string {
	topics, err := r.set.Topics.List(ctx, schemas.DeliverTopic(""))
	if err != nil {
		return "unknown"
	}
	newest, err := r.set.Topics.Newest(ctx, topics...)
	switch {
	case err != nil:
		return "unknown"
	case newest.IsZero():
		return "before all that deliver.* holds"
	}
	return newest.Format(time.RFC3339)
}
