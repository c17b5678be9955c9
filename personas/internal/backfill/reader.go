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
	fetchTime = 10 * time.Second
	// turns is how many parts are read at a time: those of all partitions at once would leave
	// live calls no core, and of one alone a broker that says nothing would keep all others.
	turns = 2
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
	turns   chan struct{} // has one of each who reads

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
	r := &Reader{set: set, past: &past{set: set, parts: make(map[int32]*known)}, parts: make(map[int32]*held), turns: make(chan struct{}, turns)}
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

// Part returns what stands from an offset on, about so many bytes, or nil while it is read. A
// negative offset is that of the first record that was taken in since a time. Nothing beyond
// cut is read. Whoever folds a part in steps asks for the rest of it.
func (r *Reader) Part(num int32, from, cut int64, since time.Time, bytes int) *Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := asked{from, cut, since}
	h := r.parts[num]
	if h != nil && h.then != nil && h.then.has(want) {
		h = h.then
	}
	if h == nil || !h.has(want) {
		h = r.read(num, want, bytes)
	}
	r.parts[num] = h
	if h == nil || h.part == nil {
		return nil
	}
	if h.then == nil && h.from < h.part.Next && h.part.Next < cut {
		h.then = r.read(num, asked{h.part.Next, cut, since}, bytes) // while this one is folded
	}
	return h.part.rest(from)
}

// rest is what a part has from an offset on.
func (p *Part) rest(from int64) *Part {
	i, _ := slices.BinarySearchFunc(p.Records, from, func(rec *kgo.Record, from int64) int { return cmp.Compare(rec.Offset, from) })
	return &Part{Begin: p.Begin, Records: p.Records[i:], Next: p.Next}
}

// read begins to read a part; nil: the reader is closed.
func (r *Reader) read(num int32, want asked, bytes int) *held {
	if r.ctx.Err() != nil {
		return nil
	}
	h := &held{asked: want}
	r.reading.Go(func() {
		part, err := r.inTurn(num, h, bytes)
		if err != nil && r.ctx.Err() == nil {
			r.set.Failed(err)
		}
		if r.arrived(num, h, part) {
			r.set.Ready(num)
		}
	})
	return h
}

// inTurn reads a part when it is its turn, if it is wanted then. Copies are left out beside:
// for the first part of a partition all that was seen before is read.
func (r *Reader) inTurn(num int32, h *held, bytes int) (part *Part, err error) {
	select {
	case r.turns <- struct{}{}:
	case <-r.ctx.Done():
		return nil, nil
	}
	if r.wanted(num, h) {
		part, err = r.fetch(r.ctx, num, h.asked, bytes)
	}
	<-r.turns
	if part == nil || err != nil || h.from < 0 {
		return part, err
	}
	if part.Records, err = r.past.drop(r.ctx, num, h.from, part.Next, part.Records); err != nil {
		return nil, err
	}
	return part, nil
}

// wanted reports whether somebody waits for what is to be read, or for what follows then.
func (r *Reader) wanted(num int32, h *held) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	current := r.parts[num]
	return current != nil && (current == h || current.then == h)
}

// arrived notes what was read, if anything, and reports whether somebody waits for it.
func (r *Reader) arrived(num int32, h *held, part *Part) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.part = part
	current := r.parts[num]
	if current == nil {
		r.past.forget(num) // it was forgotten meanwhile
	}
	if part == nil && current == h {
		delete(r.parts, num)
	} else if part == nil && current != nil && current.then == h {
		current.then = nil
	}
	return part != nil && current == h
}

func (r *Reader) fetch(ctx context.Context, num int32, want asked, bytes int) (*Part, error) {
	ctx, done := context.WithTimeout(ctx, fetchTime)
	defer done()
	if want.from < 0 {
		begin, err := r.begin(ctx, num, want.cut, want.since)
		if err != nil {
			return nil, err
		}
		return &Part{Begin: begin, Next: begin}, nil
	}
	found, err := ranges.Fetch(ctx, r.set.Topics.Client, schemas.TopicRawEvents, num, want.from, bytes)
	if err != nil {
		return nil, err
	}
	p := &Part{Begin: want.from, Next: min(found.Next, want.cut)}
	if p.Next == want.from {
		return nil, nil // a transaction is open there: it is asked for again
	}
	for _, rec := range found.Records {
		if rec.Offset < want.cut {
			p.Records = append(p.Records, rec)
		}
	}
	return p, nil
}

// begin is where the first record stands that was taken in since a time.
func (r *Reader) begin(ctx context.Context, num int32, cut int64, since time.Time) (int64, error) {
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
