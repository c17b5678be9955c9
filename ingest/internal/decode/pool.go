package decode

import "sync"

// Pool keeps decoders between requests. The zero value is ready for use, by
// many goroutines.
type Pool struct{ decoders sync.Pool }

// Get returns a decoder that nobody else uses.
func (p *Pool) Get() *Decoder {
	if d, ok := p.decoders.Get().(*Decoder); ok {
		return d
	}
	return new(Decoder)
}

const (
	// keepBody is the largest body after which a decoder is kept. Twenty events
	// of one kilobyte fit several times.
	keepBody = 128 << 10
	// keepCalls is up to how many calls a decoder keeps memory for.
	keepCalls = 256
)

// Put keeps d for another request, unless the last one has made it large.
// Nothing may use d, or its events, afterwards.
func (p *Pool) Put(d *Decoder) {
	if d.size <= keepBody && len(d.calls) <= keepCalls && cap(d.press.accepted.text)+cap(d.press.blocked.text) <= 2*keepBody {
		p.decoders.Put(d)
	}
}
