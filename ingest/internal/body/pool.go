package body

import "sync"

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
)

// Pool keeps the memory of bodies between requests. The zero value is ready for
// use, by many goroutines.
type Pool struct {
	bodies, inflaters sync.Pool
	large             sync.Pool // buffers of more than keepBody
	room              room
}

// Get returns a body that nobody else uses.
func (p *Pool) Get() *Body {
	if b, ok := p.bodies.Get().(*Body); ok {
		return b
	}
	return &Body{pool: p, raw: make([]byte, 0, firstRead)}
}

// Put keeps the memory of b for another request. Nothing may use b, or its text,
// afterwards.
func (p *Pool) Put(b *Body) {
	if b.z != nil {
		b.z.release()
		p.inflaters.Put(b.z)
		b.z = nil
	}
	b.leave()
	if cap(b.raw) > keepBody {
		if cap(b.raw) <= keepLarge {
			p.large.Put(&b.raw)
		}
		return
	}
	p.bodies.Put(b)
}

// enlarge returns a large buffer that was kept, with what b holds, nil when there
// is none with more room, or none for it.
func (p *Pool) enlarge(b *Body) []byte {
	kept, ok := p.large.Get().(*[]byte)
	if !ok || cap(*kept) <= cap(b.raw) || !b.take(cap(*kept)-cap(b.raw)) {
		return nil
	}
	return append((*kept)[:0], b.raw...)
}

// inflater returns one that nobody else uses. They are kept apart from bodies,
// since they have forty kilobytes each and most bodies are not compressed.
func (p *Pool) inflater() *inflater {
	if z, ok := p.inflaters.Get().(*inflater); ok {
		return z
	}
	return new(inflater)
}
