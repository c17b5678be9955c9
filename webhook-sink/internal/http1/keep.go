package http1

import (
	"bytes"
	"io"
	"net/http/httputil"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/response"
)

// Keep says what of responses is kept for people. What is not, is read and forgotten.
type Keep uint8

// How much is kept.
const (
	Nothing    Keep = iota
	Failures        // how the body begins where the status is not one of 200 to 299
	Everything      // how any body begins, and the head
)

// MaxKept is how many bytes of a body are kept.
const MaxKept = 1 << 10

// Body returns how many bytes are kept of the body of a response with a status.
func (k Keep) Body(status int) int {
	if k == Everything || k == Failures && (status < 200 || status > 299) {
		return MaxKept
	}
	return 0
}

// Beginning reads up to so many bytes of a body; nil where none are wanted. What ends it is
// met again by whoever reads on.
func Beginning(body io.Reader, most int) []byte {
	if most == 0 {
		return nil
	}
	kept := make([]byte, most)
	n, _ := io.ReadFull(body, kept)
	return kept[:n:n]
}

// next reads the head of the response.
func (b *buffers) next(src io.Reader) (response.Head, error) {
	h, err := b.response.Next(src)
	if err == nil && b.keep == Everything {
		b.head = bytes.Clone(b.response.Head())
	}
	return h, err
}

// keepBody keeps of a body what is to be kept, as far as src has what did not come with the
// head.
func (b *buffers) keepBody(h *response.Head, src io.Reader) {
	most := b.keep.Body(h.Status)
	if most == 0 {
		return
	}
	body := io.MultiReader(bytes.NewReader(b.response.Rest()), src)
	switch {
	case h.Chunked:
		body = httputil.NewChunkedReader(body)
	case h.Length >= 0:
		body = io.LimitReader(body, h.Length)
	}
	b.body = Beginning(body, most)
}
