package ingest

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
)

const (
	// firstRead is the room for a body whose length is unknown or claimed to be
	// more: memory follows what has arrived, not what was announced.
	firstRead = 16 << 10
	// keepBody is the largest buffer kept for the next request. Twenty events
	// of one kilobyte fit several times.
	keepBody = 128 << 10
)

// bodies are the buffers that request bodies are read into. Nothing that leaves
// the handler aliases them: what is produced is copied first.
type bodies struct{ pool sync.Pool }

func (b *bodies) get() *[]byte {
	if buf, ok := b.pool.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, 0, firstRead)
	return &buf
}

func (b *bodies) put(buf *[]byte) {
	if cap(*buf) <= keepBody {
		*buf = (*buf)[:0]
		b.pool.Put(buf)
	}
}

// errBodyTooLong means that a body has more bytes than its limit.
var errBodyTooLong = errors.New("body is longer than its limit")

// readBody reads the body of r behind dst, at most limit bytes of it.
func readBody(dst []byte, r *http.Request, limit int) ([]byte, error) {
	if r.ContentLength > int64(limit) {
		return dst, errBodyTooLong
	}
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, len(dst)+1)
		}
		// One byte beyond the limit tells a body that is too long from one that
		// just fits.
		room := dst[len(dst):min(cap(dst), limit+1)]
		n, err := r.Body.Read(room)
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > limit:
			return dst, errBodyTooLong
		case errors.Is(err, io.EOF):
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}
