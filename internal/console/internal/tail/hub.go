package tail

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/waiting"
)

const (
	// Before is how far back a reader begins.
	Before = 10 * time.Second
	// linger is how long the reader goes on when nobody looks: a page may be loaded once more.
	linger = 5 * time.Second
	// again is how long a reader that has failed waits.
	again = 2 * time.Second

	// most is how many tails there are at a time.
	most = 50

	// What came last is kept for tails that begin, within bounds.
	mostRecent  = 1000
	recentBytes = 2 << 20
)

// The reasons for which there is no tail.
var (
	ErrFull   = errors.New("too many tails are open in this process, close one of them")
	ErrClosed = errors.New("the process is stopping")
)

// From says where a reader begins.
type From struct {
	Since time.Time       // with the first record that is not older
	Next  map[int32]int64 // and in these partitions with this offset
}

// Read hands out the records of raw-events from somewhere on, those of a partition in order,
// as they come, until ctx ends or brokers don't answer.
type Read func(ctx context.Context, from From, to Feed) error

// Feed is what a reader tells.
type Feed struct {
	// Well is called when brokers answer.
	Well func()
	// Each is called with each record, and with whether it stood there when the reading began.
	Each func(r *kgo.Record, stood bool)
}

// Hub has one reader for all tails. Make it with [New].
type Hub struct {
	log     *slog.Logger
	read    Read
	reading sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	tails   map[*Tail]struct{}
	stop    context.CancelFunc // ends the reader; nil: there is none
	leaving *time.Timer        // ends it when nobody comes; nil: somebody looks
	problem error

	next   map[int32]int64 // by partition
	recent []*Call
	bytes  int // of those
}

// New returns a hub whose reader has yet to begin.
func New(log *slog.Logger, read Read) *Hub {
	return &Hub{log: log, read: read, tails: make(map[*Tail]struct{})}
}

// Join begins a tail of some calls, with those that came last. Who takes from it has to
// [Hub.Leave]. The end of ctx is not that of the tail.
func (h *Hub) Join(ctx context.Context, wanted Wanted) (*Tail, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, ErrClosed
	case len(h.tails) >= most:
		return nil, ErrFull
	}
	t := &Tail{hub: h, wanted: wanted, over: make(chan struct{})}
	for _, c := range h.recent {
		if wanted.Wants(c) {
			t.keep(c)
		}
	}
	h.tails[t] = struct{}{}
	h.begin(ctx)
	return t, nil
}

// begin has the reader read.
func (h *Hub) begin(ctx context.Context) {
	if h.leaving != nil {
		h.leaving.Stop()
		h.leaving = nil
	}
	if h.stop != nil {
		return
	}
	ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.next, h.recent, h.bytes, h.problem = make(map[int32]int64), nil, 0, nil
	h.reading.Go(func() { h.follow(ctx, time.Now().Add(-Before)) })
}

// Leave ends a tail.
func (h *Hub) Leave(t *Tail) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tails, t)
	if len(h.tails) > 0 || h.closed || h.leaving != nil {
		return
	}
	h.leaving = time.AfterFunc(linger, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if len(h.tails) == 0 && h.leaving != nil {
			h.end()
		}
	})
}

// end ends the reader, and forgets what it has read.
func (h *Hub) end() {
	if h.stop != nil {
		h.stop()
	}
	h.stop, h.leaving, h.recent, h.bytes = nil, nil, nil, 0
}

// Close ends all tails, and returns when the reader has ended. No other begins.
func (h *Hub) Close() {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		for t := range h.tails {
			close(t.over)
		}
		h.end()
	}
	h.mu.Unlock()
	h.reading.Wait()
}

// follow reads until ctx ends, and goes on where it was when that fails.
func (h *Hub) follow(ctx context.Context, since time.Time) {
	begun := false
	for ctx.Err() == nil {
		resumed := begun
		err := h.read(ctx, From{since, h.reached()}, Feed{
			Well: func() { begun = true; h.trouble(ctx, nil) },
			Each: func(r *kgo.Record, stood bool) { h.take(ctx, r, stood && !resumed) },
		})
		if ctx.Err() != nil {
			return
		}
		h.log.Warn("console: calls can't be followed, retrying", "error", err)
		h.trouble(ctx, err)
		waiting.Sleep(ctx, again)
	}
}

func (h *Hub) reached() map[int32]int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.next)
}

// trouble notes what stands in the way of a reader; nil: nothing does.
func (h *Hub) trouble(ctx context.Context, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() == nil {
		h.problem = err
	}
}

// take tells all tails of a record. What stood there before is for those that begin.
func (h *Hub) take(ctx context.Context, r *kgo.Record, stood bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil || r.Offset < h.next[r.Partition] {
		return // another reader has begun, or it was told before
	}
	h.next[r.Partition] = r.Offset + 1
	c := NewCall(r)
	h.remember(c)
	for t := range h.tails {
		if !stood {
			t.hear(c)
		} else if t.wanted.Wants(c) {
			t.keep(c)
		}
	}
}

// remember keeps a call for tails that begin, in the place of the oldest ones.
func (h *Hub) remember(c *Call) {
	h.recent = append(h.recent, c)
	h.bytes += c.size()
	old := 0
	for old < len(h.recent) && (len(h.recent)-old > mostRecent || h.bytes > recentBytes || h.recent[old].At.Before(c.At.Add(-Before))) {
		h.bytes -= h.recent[old].size()
		h.recent[old] = nil // the array outlives it
		old++
	}
	h.recent = h.recent[old:]
}
