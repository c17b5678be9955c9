package http1

import (
	"net/http"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/response"
)

const (
	// writeAlone is what is written before anything is read. The least a socket
	// takes at once is more, so that this can't end in both sides writing and
	// neither reading.
	writeAlone = 16 << 10
	// lookTime is how long a receiver that hung up in the midst of a request may
	// have left to say why.
	lookTime = 250 * time.Millisecond
)

// exchange writes a request and reads the response up to where the connection
// could be used again, which it reports. With an error the connection is of no more
// use.
func (c *conn) exchange(b *buffers, deadline time.Time) (h response.Head, reusable bool, err error) {
	if len(b.request) > writeAlone {
		return c.exchangeLarge(b, deadline)
	}
	if _, err = c.stream.Write(b.request); err != nil {
		h, err = c.reasonFor(err, b, deadline)
		return h, false, err
	}
	h, err = b.next(c.stream)
	if err != nil {
		return response.Head{}, false, err
	}
	return h, c.drain(b, &h), nil
}

// reasonFor looks for what the receiver said before it refused to read on: a 413,
// or the alert by which TLS 1.3 refuses a client after its first flight.
func (c *conn) reasonFor(cause error, b *buffers, deadline time.Time) (response.Head, error) {
	// On a connection that was idle, whatever it had to say was not about us.
	if c.untouched() || isTimeout(cause) {
		return response.Head{}, cause
	}
	c.lookUntil(deadline)
	h, err := b.next(c.stream)
	switch {
	case err == nil:
		b.keepBody(&h, http.NoBody)
		return h, nil
	case IsAlert(err):
		return response.Head{}, err
	default:
		return response.Head{}, cause
	}
}

func (c *conn) lookUntil(deadline time.Time) {
	if soon := time.Now().Add(lookTime); soon.Before(deadline) {
		c.limit(c.SetReadDeadline, soon)
	}
}

// exchangeLarge writes from a second goroutine while it reads, so that a receiver
// that answers without reading all of the request is heard.
func (c *conn) exchangeLarge(b *buffers, deadline time.Time) (h response.Head, reusable bool, err error) {
	written := make(chan error, 1)
	go func() {
		_, failed := c.stream.Write(b.request)
		if failed != nil && !isTimeout(failed) {
			c.lookUntil(deadline)
		}
		written <- failed
	}()
	h, err = b.next(c.stream)
	if err != nil {
		_ = c.SetDeadline(longPast)
		return response.Head{}, false, first(<-written, err)
	}
	// Both the writer and what is left of the body have this long.
	c.limit(c.SetDeadline, time.Now().Add(maxDrainTime))
	reusable = c.drain(b, &h)
	if !reusable {
		_ = c.SetDeadline(longPast)
	}
	err = <-written
	if c.taken == 0 {
		return response.Head{}, false, errUnasked
	}
	return h, reusable && err == nil, nil
}

// first returns the error that came first, where both sides of an exchange failed:
// the writer's, unless it is only the effect of the deadline moved to stop it.
func first(writing, reading error) error {
	if writing == nil || isTimeout(writing) || IsAlert(reading) {
		return reading
	}
	return writing
}
