package http1

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/response"
)

const (
	maxDrain     = 64 << 10
	maxDrainTime = 250 * time.Millisecond
)

// drain reads what is left of the response, within narrow limits, and reports
// whether the connection can be used again: the body has ended, and nothing came
// after it. A connection that can't is read from all the same, as closing it on
// unread bytes would look like a failure to the receiver.
//
// What is kept of the body is read on the way, and for that alone one is read from that is
// too long.
func (c *conn) drain(b *buffers, h *response.Head) bool {
	here := int64(len(b.response.Rest()))
	if h.Length >= 0 && here >= h.Length {
		b.keepBody(h, http.NoBody)
		return here == h.Length && !h.Close
	}
	c.limit(c.SetDeadline, time.Now().Add(maxDrainTime))
	ended := false
	if h.Chunked {
		ended = c.drainChunks(b, h)
	} else {
		b.keepBody(h, c.stream)
		here = max(here, int64(len(b.body)))
	}
	switch {
	case h.Chunked, h.Length > maxDrain:
	case h.Length >= 0:
		ended = c.drainExactly(b.response.Buffer(), h.Length-here)
	default:
		_, _ = io.CopyN(io.Discard, c.stream, maxDrain)
	}
	return ended && !h.Close && !c.cut.Load()
}

// drainExactly reads into buf, which may be larger than what is left, so that more
// than that shows.
func (c *conn) drainExactly(buf []byte, left int64) bool {
	for left > 0 {
		n, err := c.stream.Read(buf)
		left -= int64(n)
		if err != nil && left > 0 {
			return false
		}
	}
	return left == 0
}

// drainChunks does not take trailers for an end: nobody sends them to a POST, and
// the end behind them would be one more thing to find.
func (c *conn) drainChunks(b *buffers, h *response.Head) bool {
	front := bytes.NewReader(b.response.Rest())
	from := bufio.NewReader(io.MultiReader(front, c.stream))
	body := httputil.NewChunkedReader(from)
	b.body = Beginning(body, b.keep.Body(h.Status))
	if n, err := io.CopyN(io.Discard, body, maxDrain+1); err != io.EOF || n > maxDrain { //nolint:errorlint // the chunked reader returns it bare
		return false
	}
	end, err := from.Peek(2)
	if err != nil || string(end) != "\r\n" {
		return false
	}
	return from.Buffered() == 2 && front.Len() == 0
}
