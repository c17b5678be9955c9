package backfill

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
)

const (
	partBytes = 128 << 10
	fetchTime = 10 * time.Second
)

// Settings are what a [Reader] reads by.
type Settings struct {
	Logger *slog.Logger
	Kafka  []kgo.Opt // of every client of the process
	Topics *topics.Admin
	// Window is how long a call is remembered, so that copies are left out; 0: none are.
	Window time.Duration
	// Ready is told of a partition whose part is there. Failed is told of what fails, and is
	// tried when it is asked for again. Both may be called by any goroutine.
	Ready  func(num int32)
	Failed func(error)
}

// Reader holds a part of each partition, and reads the next one ahead. It may be used by many
// goroutines.
type Reader struct {
	set  Settings
	past *past

	ctx     context.Context //nolint:containedctx // of what runs beside
	stop    context.CancelFunc
	reading sync.WaitGroup
	turn    sync.Mutex // whoever reads holds it: all partitions at once would leave live calls no core

	mu    sync.Mutex
	parts map[int32]*held
}

// held is a part; nil while it is read.
type held struct {
	asked
	part *Part
	then *held // what follows; nil until the part is there
}

// has reports whether the part is what is asked for, or the rest of it is.
func (h *held) has(a asked) bool {
	return h.asked == a || h.part != nil && h.cut == a.cut && h.since.Equal(a.since) && 0 <= h.from && h.from <= a.from && a.from < h.part.Next
}

// asked is what was asked for. Two backfills may ask for a part from one offset on, each
// up to its own cut.
type asked struct {
	from, cut int64
	since     time.Time
}

// Part is what was found from an offset on.
type Part struct {
	Begin   int64         // where the records that were asked for begin, if From was not known
	Records []*kgo.Record // without copies of others
	Next    int64
}

// New returns a reader, until [Reader.Close] is called.
func New(set Settings) *Reader {
	r := &Reader{set: set, past: &past{set: set, parts: make(map[int32]*known)}, parts: make(map[int32]*held)}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r
}

// Close ends what is read, and waits for that.
func (r *Reader) Close() {
	r.stop()
	r.reading.Wait()
	r.past.close()
}

// Forget frees what is held of a partition, of which nothing more is asked for now.
func (r *Reader) Forget(num int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.parts, num)
	r.past.forget(num)
}

// Part returns what stands from an offset on, or nil while it is read. A negative offset
// is that of the first record that was taken in since a time. Nothing beyond cut is read.
// Whoever folds a part in steps asks for the rest of it.
func (r *Reader) Part(num int32, from, cut int64, since time.Time) *Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := asked{from, cut, since}
	h := r.parts[num]
	if h != nil && h.then != nil && h.then.has(want) {
		h = h.then
	}
	if h == nil || !h.has(want) {
		h = r.read(num, want)
	}
	r.parts[num] = h
	if h == nil || h.part == nil {
		return nil
	}
	if h.then == nil && h.from < h.part.Next && h.part.Next < cut {
		h.then = r.read(num, asked{h.part.Next, cut, since}) // while this one is folded
	}
	return h.part.rest(from)
}

// rest is what a part has from an offset on.
func (p *Part) rest(from int64) *Part {
	i, _ := slices.BinarySearchFunc(p.Records, from, func(rec *kgo.Record, from int64) int { return cmp.Compare(rec.Offset, from) })
	return &Part{Begin: p.Begin, Records: p.Records[i:], Next: p.Next}
}

// read begins to read a part; nil: the reader is closed.
func (r *Reader) read(num int32, want asked) *held {
	if r.ctx.Err() != nil {
		return nil
	}
	h := &held{asked: want}
	r.reading.Go(func() {
		part, err := r.fetch(r.ctx, num, want.from, want.cut, want.since)
		if err != nil && r.ctx.Err() == nil {
			r.set.Failed(err)
		}
		if r.arrived(num, h, part) {
			r.set.Ready(num)
		}
	})
	return h
}

// arrived notes what was read, if anything, and reports whether somebody waits for it.
func (r *Reader) arrived(num int32, h *held, part *Part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.part = part
	current := r.parts[num]
	if part == nil && current == h {
		delete(r.parts, num)
	} else if part == nil && current != nil && current.then == h {
		current.then = nil
	}
	return part != nil && current == h
}

func (r *Reader) fetch(ctx context.Context, num int32, from, cut int64, since time.Time) (*Part, error) {
	p := &Part{Begin: from}
	if from < 0 {
		begin, err := r.begin(ctx, num, cut, since)
		if err != nil {
			return nil, err
		}
		return &Part{Begin: begin, Next: begin}, nil
	}
	limited, done := context.WithTimeout(ctx, fetchTime)
	defer done()
	r.turn.Lock()
	defer r.turn.Unlock()
	found, err := ranges.Fetch(limited, r.set.Topics.Client, schemas.TopicRawEvents, num, from, partBytes)
	if err != nil {
		return nil, err
	}
	p.Next = min(found.Next, cut)
	for _, rec := range found.Records {
		if rec.Offset < cut {
			p.Records = append(p.Records, rec)
		}
	}
	if p.Next == from {
		return nil, nil // a transaction is open there: it is asked for again
	}
	if p.Records, err = r.past.drop(ctx, num, from, p.Next, p.Records); err != nil {
		return nil, err
	}
	return p, nil
}

// begin is where the first record stands that was taken in since a time.
func (r *Reader) begin(ctx context.Context, num int32, cut int64, since time.Time) (int64, error) {
	ctx, done := context.WithTimeout(ctx, fetchTime)
	defer done()
	extents, err := r.set.Topics.Extents(ctx, schemas.TopicRawEvents)
	if err != nil {
		return 0, err
	}
	begin := min(extents[schemas.TopicRawEvents][num].Start, cut)
	if since.IsZero() {
		return begin, nil
	}
	first, err := r.set.Topics.FirstAfter(ctx, schemas.TopicRawEvents, map[int32]time.Time{num: since.Add(-time.Millisecond)})
	if err != nil {
		return 0, err
	}
	if at, ok := first[num]; ok {
		return min(at, cut), nil
	}
	return cut, nil
}
