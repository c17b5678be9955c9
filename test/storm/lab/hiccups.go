package lab

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// hiccups are how late the bench itself is woken: the part of every latency that
// is the machine's and not the product's.
type hiccups struct {
	mu  sync.Mutex
	all []time.Duration
}

// watch measures until ctx ends.
func (h *hiccups) watch(ctx context.Context) {
	const every = 5 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		h.mu.Lock()
		h.all = append(h.all, max(0, now.Sub(last)-every))
		h.mu.Unlock()
		last = now
	}
}

func (h *hiccups) phase() books.Phase {
	h.mu.Lock()
	defer h.mu.Unlock()
	return books.Summarize(append([]time.Duration(nil), h.all...))
}

// Lateness is how late the bench itself was at most: it may have seen the end of
// something as late as that.
func (l *Lab) Lateness() time.Duration { return l.hiccups.phase().Max }

// String is the note about them.
func (h *hiccups) String() string {
	p := h.phase()
	return fmt.Sprintf("the bench late by p99 %s, at most %s", p.P99.Round(100*time.Microsecond), p.Max.Round(time.Millisecond))
}
