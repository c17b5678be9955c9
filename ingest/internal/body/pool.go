package body

import (
	"sync"
	"sync/atomic"
)

const (
	// firstRead is the room for a body of which nothing has arrived. A slow client
	// holds it for as long as it is let, and an ordinary event fits.
	firstRead = 4 << 10
	// keepBody is the largest buffer that any request may get. Twenty events of one
	// kilobyte fit several times.
	keepBody = 128 << 10
	// keepLarge is the largest that is kept for requests that need as much. Made
	// anew for each, they would keep the garbage collector busy.
	keepLarge = 1 << 20
	// room is what all bodies in hand may take together, beside the first read of
	// each: thousands of clients that send half a megabyte and then nothing would
	// take gigabytes. It is a hundred of the largest batches, or many thousands of
	// ordinary ones.
	room = 64 << 20
)

// Pool keeps the memory of bodies between requests. The zero value is ready for
// use, by many goroutines.
type Pool struct {
	bodies, inflaters sync.Pool
	large             sync.Pool    // buffers of more than keepBody
	taken             atomic.Int64 // of room
}

// Get returns a body that nobody else uses.
func (p *Pool) Get() *Body {
	if b, ok := p.bodies.Get().(*Body); ok && p.lend(b) {
		return b
	}
	return &Body{pool: p, raw: make([]byte, 0, firstRead)}
}

// lend reports whether there is room for the memory that a body has kept.
func (p *Pool) lend(b *Body) bool {
	kept := max(0, cap(b.raw)-firstRead)
	if !p.take(kept) {
		return false
	}
	b.taken = kept
	return true
}

// take reports whether there was so much room, which then is taken.
func (p *Pool) take(n int) bool {
	if p.taken.Add(int64(n)) <= room {
		return true
	}
	p.taken.Add(-int64(n))
	return false
}

// Put keeps the memory of b for another request. Nothing may use b, or its text,
// afterwards.
func (p *Pool) Put(b *Body) {
	if b.z != nil {
		b.z.release()
		p.inflaters.Put(b.z)
		b.z = nil
	}
	p.taken.Add(-int64(b.taken))
	b.taken = 0
	if cap(b.raw) > keepBody {
		if cap(b.raw) <= keepLarge {
			p.large.Put(&b.raw)
		}
		return
	}
	p.bodies.Put(b)
}

// enlarge returns a large buffer that was kept, with what raw holds, nil when there
// is none with more room. It reports how much of the pool's room that took.
func (p *Pool) enlarge(raw []byte) (larger []byte, taken int) {
	kept, ok := p.large.Get().(*[]byte)
	if !ok || cap(*kept) <= cap(raw) {
		return nil, 0
	}
	taken = cap(*kept) - cap(raw)
	if !p.take(taken) {
		return nil, 0
	}
	return append((*kept)[:0], raw...), taken
}

// inflater returns one that nobody else uses. They are kept apart from bodies,
// since they have forty kilobytes each and most bodies are not compressed.
func (p *Pool) inflater() *inflater {
	if z, ok := p.inflaters.Get().(*inflater); ok {
		return z
	}
	return new(inflater)
}
