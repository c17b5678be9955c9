package body

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// Why a body is refused. Any other error comes from the connection: the body did
// not arrive whole.
var (
	// ErrTooLong means that a body has more bytes than its limit.
	ErrTooLong = errors.New("body is longer than its limit")
	// ErrCoding means that a body has a Content-Encoding other than gzip.
	ErrCoding = errors.New("body has a content coding that is not known")
	// ErrNoRoom means that the bodies in hand take all the memory that they may, and
	// others arrive faster than this one.
	ErrNoRoom = errors.New("too many request bodies are in memory")
	// ErrNotGzip means that a body that is, or says that it is, a gzip stream is
	// none, is damaged or ends early.
	ErrNotGzip = errors.New("body is not a gzip stream")
)

// overhead is by how much a gzip stream of what just fits may be longer than
// that: what can't be compressed grows by a header, a trailer and five bytes for
// every block.
const overhead = 1 << 10

// Body is the memory for the body of one request. Pool has them.
type Body struct {
	pool  *Pool
	limit int
	raw   []byte // as received
	gzip  bool
	z     *inflater // nil until there is something to inflate

	source   io.Reader
	sender   Sender
	received int  // bytes
	booked   bool // a part of the room was taken
	hurried  bool // the sender's connection has a deadline

	// Of the pool's room, whose lock guards them.
	taken      int
	began, due time.Time // until due more has to arrive
	counted    int       // of what was received, for due
	place      int       // among those that arrive
	evicted    bool
}

// Receive reads the body of r, of which at most limit bytes may come out
// decompressed. The error wraps ErrCoding or ErrTooLong when nothing more than
// that is known to be wrong; then the rest is left unread.
func (b *Body) Receive(r *http.Request, limit int, from Sender) error {
	c, ok := codingOf(r.Header)
	if !ok {
		return ErrCoding
	}
	b.limit, b.gzip = limit, c == gzipped
	// Two bytes tell what the body is, but by then more have arrived: one that
	// does not say that it is compressed may be as long as it may be when it is.
	most := limit
	if b.gzip {
		most += overhead
	}
	if r.ContentLength > int64(most) {
		return ErrTooLong
	}
	b.begin(r.Body, from)
	var err error
	b.raw, err = fill(b.raw[:0], (*arrival)(b), most, b.grow)
	if !b.end() {
		return ErrNoRoom
	}
	b.gzip = b.gzip || looksGzipped(b.raw)
	return err
}

// Text returns the decompressed body that Receive has read. It may be written to,
// and is valid until the Body is put back. The error is or wraps ErrTooLong or
// ErrNotGzip.
func (b *Body) Text() ([]byte, error) {
	if !b.gzip {
		return b.raw, nil
	}
	if b.z == nil {
		b.z = b.pool.inflater()
	}
	text, err := b.z.inflate(b.raw, b.limit)
	if err != nil && !errors.Is(err, ErrTooLong) {
		err = fmt.Errorf("%w: %w", ErrNotGzip, err)
	}
	return text, err
}

// grow gives raw more room, out of that of all bodies.
func (b *Body) grow(raw []byte) ([]byte, error) {
	b.raw = raw
	more := cap(raw) + 1
	if cap(raw)+more > keepBody {
		if larger := b.pool.enlarge(b); larger != nil {
			return larger, nil
		}
	}
	if !b.take(more) {
		return raw, ErrNoRoom
	}
	return slices.Grow(raw, more), nil
}

// fill reads all of r behind dst, which is at most limit bytes. When dst is full,
// grow returns it with more room.
func fill(dst []byte, r io.Reader, limit int, grow func([]byte) ([]byte, error)) ([]byte, error) {
	for {
		if len(dst) == cap(dst) {
			var err error
			if dst, err = grow(dst); err != nil {
				return dst, err
			}
		}
		// One byte beyond the limit tells a body that is too long from one that
		// just fits.
		room := dst[len(dst):min(cap(dst), limit+1)]
		n, err := r.Read(room)
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > limit:
			return dst, ErrTooLong
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
