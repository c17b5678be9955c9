package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/http1/internal/idle"
)

// DialFunc connects over TCP, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Options are what a Client is made of.
type Options struct {
	Dial DialFunc
	TLS  *tls.Config // policy for https; the server's name and the session cache are each endpoint's own
	Idle int         // connections kept per endpoint while idle
	Keep Keep        // what of responses is kept
}

// Client makes POSTs. It may be used by many goroutines.
type Client struct {
	dialer DialFunc
	tls    *tls.Config
	limit  int // of idle connections per endpoint
	keep   Keep
	pool   *idle.Pool[*conn]
}

// New returns a Client that dials when there is something to send.
func New(opts Options) *Client {
	return &Client{dialer: opts.Dial, tls: opts.TLS, limit: opts.Idle, keep: opts.Keep, pool: idle.NewPool((*conn).close)}
}

// Close closes the idle connections, and has those in use closed when their
// requests end.
func (c *Client) Close() { c.pool.Close() }

// Response is what matters of one.
type Response struct {
	Status     int    // 200 to 999
	RetryAfter string // the value of that header, as it came
	// Head and Body are what is kept: the head as it came, and how the body begins. Both may
	// say whatever the receiver likes, secrets that it was sent among it.
	Head, Body []byte
}

// Post sends body to the endpoint, with an X-Signature unless signature is empty,
// and returns once the head of the response has come and what follows it is dealt
// with: at most 250 ms after the deadline. When ctx is done it returns at once.
//
// Errors are those of the dial function as they are, [*HandshakeError],
// [*MalformedError], and those of reading and writing: past the deadline they have
// a Timeout method that returns true. When ctx is done the error says nothing else.
func (c *Client) Post(ctx context.Context, deadline time.Time, e *Endpoint, body []byte, signature string) (Response, error) {
	b := takeBuffers()
	defer b.giveBack()
	b.keep = c.keep
	b.request = e.appendRequest(b.request[:0], body, signature)
	// Each turn uses up an idle connection, and a new one ends the loop.
	for {
		conn, err := c.connect(ctx, deadline, e)
		if err != nil {
			return Response{}, err
		}
		h, reusable, err := conn.exchange(b, deadline)
		if err == nil {
			c.release(e, conn, h.Idle, reusable)
			return Response{Status: h.Status, RetryAfter: h.RetryAfter, Head: b.head, Body: b.body}, nil
		}
		conn.close()
		if !conn.untouched() || ctx.Err() != nil {
			return Response{}, err
		}
	}
}

// connect returns a connection that is ready for a request until the deadline: one
// that was idle, or a new one.
func (c *Client) connect(ctx context.Context, deadline time.Time, e *Endpoint) (*conn, error) {
	for {
		conn, ok := c.pool.Take(&e.idle)
		if !ok {
			return c.dial(ctx, deadline, e)
		}
		if conn.arm(ctx, deadline) && conn.quiet() {
			conn.reused = true
			return conn, nil
		}
		conn.close()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}

// dial makes a connection, and with an https endpoint the TLS handshake.
func (c *Client) dial(ctx context.Context, deadline time.Time, e *Endpoint) (*conn, error) {
	dialing, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	raw, err := c.dialer(dialing, "tcp", e.address)
	if err != nil {
		return nil, err
	}
	conn := newConn(raw)
	if !conn.arm(ctx, deadline) {
		conn.close()
		return nil, errors.Join(errNotArmed, ctx.Err())
	}
	if !e.https {
		return conn, nil
	}
	if err := conn.handshake(e.tlsConfig(c.tls)); err != nil {
		conn.close()
		return nil, &HandshakeError{Err: err}
	}
	return conn, nil
}

// release keeps a connection for the next request, or closes it.
func (c *Client) release(e *Endpoint, conn *conn, atRest time.Duration, reusable bool) {
	if !reusable || !conn.drained() || !c.pool.Keep(&e.idle, conn, conn.born, atRest, c.limit) {
		conn.close()
	}
}
