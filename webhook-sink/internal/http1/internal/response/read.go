package response

import (
	"io"
	"net/http"
	"strings"
)

const (
	firstRead        = 4 << 10  // most heads are below a kilobyte
	maxHead          = 64 << 10 // of all heads of one response together
	maxInformational = 8
)

// Reader takes the heads of one response off a connection.
type Reader struct {
	buf      []byte
	from, to int // what was read and not taken yet
	head     int // length of the head before from
}

// NewReader returns a Reader for one response after the other.
func NewReader() *Reader { return &Reader{buf: make([]byte, firstRead)} }

// Rest returns what came behind the head. It is valid until the next read.
func (r *Reader) Rest() []byte { return r.buf[r.from:r.to] }

// Head returns the head that [Reader.Next] has read last, as it came. It is valid until the
// next read.
func (r *Reader) Head() []byte { return r.buf[r.from-r.head : r.from] }

// Buffer is memory to read the rest of the body into; it ends the life of Rest.
func (r *Reader) Buffer() []byte { return r.buf }

// Shrink gives up memory beyond the usual.
func (r *Reader) Shrink() {
	if len(r.buf) > firstRead {
		r.buf = make([]byte, firstRead)
	}
}

// Next returns the head of the response that is not informational. What came
// behind it is the [Reader.Rest]. Errors are those of src, io.ErrUnexpectedEOF at its
// end, and [*MalformedError].
func (r *Reader) Next(src io.Reader) (Head, error) {
	r.from, r.to, r.head = 0, 0, 0
	budget := maxHead
	for range maxInformational + 1 {
		raw, err := r.rawHead(src, budget)
		if err != nil {
			return Head{}, err
		}
		budget -= len(raw)
		r.head = len(raw)
		h, err := parse(raw)
		switch {
		case err != nil:
			return Head{}, err
		case h.Status == http.StatusSwitchingProtocols:
			return Head{}, errSwitching
		case h.Status >= 200:
			return h, nil
		}
	}
	return Head{}, errTooManyInfo
}

// rawHead returns the bytes of one head with its empty line. They are valid until
// the next read.
func (r *Reader) rawHead(src io.Reader, budget int) ([]byte, error) {
	for searched := 0; ; {
		pending := r.buf[r.from:r.to]
		// At once: who speaks another protocol may never end its head.
		if !startsAsHTTP(pending) {
			return nil, errStatusLine
		}
		end := endOfHead(pending, searched)
		if end > budget || end == 0 && len(pending) > budget {
			return nil, errHeadTooLong
		}
		if end > 0 {
			r.from += end
			return pending[:end], nil
		}
		searched = max(0, len(pending)-len("\n\r"))
		if err := r.fill(src); err != nil {
			return nil, err
		}
	}
}

// fill reads once, into more room if there is none left.
func (r *Reader) fill(src io.Reader) error {
	if r.to == len(r.buf) {
		kept := r.buf[r.from:r.to]
		if len(kept) > len(r.buf)/2 {
			r.buf = make([]byte, 2*len(r.buf))
		}
		r.from, r.to = 0, copy(r.buf, kept)
	}
	n, err := src.Read(r.buf[r.to:])
	r.to += n
	switch {
	case n > 0:
		return nil // an error comes again
	case err == io.EOF:
		return io.ErrUnexpectedEOF
	default:
		return err
	}
}

func startsAsHTTP(b []byte) bool {
	const start = "HTTP/1."
	n := min(len(b), len(start))
	return strings.HasPrefix(start, string(b[:n]))
}
