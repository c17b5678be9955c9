package http1

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// long past is a deadline that interrupts whatever waits.
var longPast = time.Unix(1, 0)

// conn is a connection to one endpoint. As a net.Conn it is the one over TCP, and
// counts what the kernel takes; stream is what HTTP goes over.
type conn struct {
	net.Conn

	stream io.ReadWriter // the conn itself, or TLS on top of it
	tls    *tls.Conn     // nil without
	peek   peeker
	born   time.Time

	reused bool // this is not its first request
	taken  int  // bytes of this request that the kernel took, in whatever wrapping
	dry    bool // reads find nothing, as on a socket at rest

	watched <-chan struct{} // of the context whose end interrupts it; nil: none
	unwatch func() bool
	cut     atomic.Bool // by such a context
}

func newConn(raw net.Conn) *conn {
	c := &conn{Conn: raw, born: time.Now()}
	c.stream = c
	if socket, ok := raw.(syscall.Conn); ok {
		c.peek.socket, _ = socket.SyscallConn()
	}
	return c
}

// Write counts. TLS holds a lock of its own over it, so writes don't overlap.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.taken += n
	return n, err
}

func (c *conn) Read(p []byte) (int, error) {
	if c.dry {
		return 0, os.ErrDeadlineExceeded // which TLS takes for temporary
	}
	return c.Conn.Read(p)
}

// arm gets a connection ready for a request: it ends at the deadline, or with ctx.
// False means that it has ended already, with this context or an earlier one.
//
// The context of one request is mostly that of the next, and a watch on it costs
// four allocations, so the watch stays with the connection.
func (c *conn) arm(ctx context.Context, deadline time.Time) bool {
	c.taken = 0
	if ctx.Done() != c.watched {
		if !c.forget() {
			return false
		}
		if c.watched = ctx.Done(); c.watched != nil {
			c.unwatch = context.AfterFunc(ctx, c.interrupt)
		}
	}
	if c.SetDeadline(deadline) != nil {
		return false
	}
	// In this order: a cut from before is seen here, and one from now on moves the
	// deadline just set.
	return !c.cut.Load()
}

// forget ends the watch. False means that it has found something.
func (c *conn) forget() bool {
	if c.watched == nil {
		return true
	}
	c.watched = nil
	return c.unwatch()
}

func (c *conn) interrupt() {
	c.cut.Store(true)
	_ = c.SetDeadline(longPast)
}

// limit sets another deadline in the midst of a request, unless that is cut short.
func (c *conn) limit(set func(time.Time) error, deadline time.Time) {
	_ = set(deadline)
	if c.cut.Load() {
		_ = c.SetDeadline(longPast)
	}
}

// untouched reports that the connection had been idle and the kernel took nothing
// of the request, so that nobody can have seen it.
func (c *conn) untouched() bool { return c.reused && c.taken == 0 }

func (c *conn) handshake(config *tls.Config) error {
	c.tls = tls.Client(c, config)
	c.stream = c.tls
	// Without a context: the deadline is set, and the watch is on. With one, it
	// would start a goroutine.
	err := c.tls.Handshake() //nolint:noctx // as said above
	c.taken = 0
	return err
}

// drained reports that TLS holds no bytes that came with the response: they would
// be read as the next one, and no look at the socket finds them.
func (c *conn) drained() bool {
	if c.tls == nil {
		return true
	}
	c.dry = true
	var one [1]byte
	_, err := c.tls.Read(one[:])
	c.dry = false
	return err == os.ErrDeadlineExceeded //nolint:errorlint // just what Read above gave it
}

// quiet reports that nothing came on an idle connection: no bytes, no end of it.
func (c *conn) quiet() bool { return c.peek.socket == nil || c.peek.quiet() }

// close closes the connection over TCP and says no goodbye in TLS: an alert would
// wait for a peer that has stopped reading, and nobody misses it, as an HTTP
// response carries its own end.
func (c *conn) close() {
	c.forget()
	_ = c.Close()
}
