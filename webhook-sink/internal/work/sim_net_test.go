package work

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// simAnswer is what a receiver does with one request.
type simAnswer struct {
	after time.Duration // until it answers; longer than the sink waits: it hangs
	text  string        // of the response; empty: it hangs up
	ok    bool          // it takes the event
}

// simReceiver answers a request with an event at a host.
type simReceiver func(host string, event int, now time.Time) simAnswer

// simNet is the network between sinks and receivers. A connection is no more than
// two ends in one place, so that a request costs microseconds.
type simNet struct {
	books *simBooks
	// refuses says whether a host refuses connections; nil: none does.
	refuses func(host string, now time.Time) bool
	answer  simReceiver
}

var errSimRefused = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}

func (n *simNet) dial(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if n.refuses != nil && n.refuses(host, time.Now()) {
		n.books.refused(host)
		return nil, errSimRefused
	}
	return &simConn{net: n, host: host, changed: make(chan struct{}, 1)}, nil
}

// simConn is a connection on which a receiver answers one request after the other.
type simConn struct {
	net.Conn // nil: nothing else is called

	net     *simNet
	host    string
	changed chan struct{} // the deadline is another, or the connection is closed

	mu       sync.Mutex
	deadline time.Time
	closed   bool
	hangUp   bool
	answer   []byte
	ready    time.Time
}

// Write takes one whole request: the client writes it in one piece.
func (c *simConn) Write(p []byte) (int, error) {
	_, event, _ := bytes.Cut(p, []byte("\r\n\r\n"))
	number, now := eventOf(event), time.Now()
	if c.net.refuses != nil && c.net.refuses(c.host, now) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.hangUp, c.ready = true, now
		c.net.books.refused(c.host)
		return len(p), nil
	}
	answer := c.net.answer(c.host, number, now)
	c.net.books.posted(c.host, number, now, answer)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer, c.hangUp, c.ready = []byte(answer.text), answer.text == "", now.Add(answer.after)
	return len(p), nil
}

// Read waits for the answer, the deadline, or the end of the connection.
func (c *simConn) Read(p []byte) (int, error) {
	for {
		n, wait, err := c.tryRead(p)
		if n > 0 || err != nil {
			return n, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-c.changed:
		}
		timer.Stop()
	}
}

func (c *simConn) tryRead(p []byte) (n int, wait time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case c.closed:
		return 0, 0, net.ErrClosed
	case !c.deadline.IsZero() && !now.Before(c.deadline):
		return 0, 0, os.ErrDeadlineExceeded
	case !now.Before(c.ready) && c.hangUp:
		return 0, 0, io.EOF
	case !now.Before(c.ready) && len(c.answer) > 0:
		n = copy(p, c.answer)
		c.answer = c.answer[n:]
		return n, 0, nil
	}
	wait = time.Hour
	if c.ready.After(now) {
		wait = c.ready.Sub(now)
	}
	if !c.deadline.IsZero() {
		wait = min(wait, c.deadline.Sub(now))
	}
	return 0, wait, nil
}

func (c *simConn) SetDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	c.tell()
	return nil
}

func (c *simConn) SetReadDeadline(at time.Time) error { return c.SetDeadline(at) }

func (c *simConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.tell()
	return nil
}

func (c *simConn) tell() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// responds is an answer with a status and header lines.
func responds(after time.Duration, status int, lines ...string) simAnswer {
	lines = append([]string{"HTTP/1.1 " + strconv.Itoa(status) + " x", "Content-Length: 0"}, lines...)
	return simAnswer{after: after, text: strings.Join(lines, "\r\n") + "\r\n\r\n", ok: status >= 200 && status <= 299}
}

const never = 1000 * time.Hour

var (
	hangs   = simAnswer{after: never}
	hangsUp = simAnswer{}
)

// eventOf is the number of the event in a body, or in a record.
func eventOf(text []byte) int {
	const mark = `"messageId":"e`
	at := bytes.Index(text, []byte(mark))
	if at < 0 {
		return -1
	}
	number, err := strconv.Atoi(string(text[at+len(mark) : at+len(mark)+8]))
	if err != nil {
		return -1
	}
	return number
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Posted(_, _ string) {}
func (nobody) LeftOut(string)     {}
func (nobody) Down(string, int)   {}
