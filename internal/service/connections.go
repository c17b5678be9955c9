package service

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/anabranch/anabranch/internal/logging"
)

const (
	// slowHead is how long a connection may go without a whole request head before
	// it is the first to go. A client that means it sends the head at once.
	slowHead = time.Second
	// youngHead is the same when nobody else is left to go. To turn away the one that
	// came instead would let those that come back at once keep all others out.
	youngHead = 200 * time.Millisecond
	// slowRequest is the same for a request in hand: by then it is more likely
	// that the client is slow to send its body than that the handler is at work.
	slowRequest = 2 * time.Second
	// longIdle is how long a connection is kept for the next request of a client
	// that is at work: to close it earlier would hit those who use it most.
	longIdle = 5 * time.Second
	// sampled is how many connections are looked at to find the one to close. Among
	// so many there is one of the worst sixteenth with 98 % probability, and
	// looking at all of them for each that comes would be an attack of its own.
	sampled = 64
)

// limited is a listener that keeps the number of open connections within a bound.
// When one too many comes, it closes one that is not likely to be missed, and
// only when there is none the one that came: waiting for room, as is usual,
// would let clients that send nothing lock out all others.
type limited struct {
	net.Listener

	most int
	shed func() // called for each connection closed
	log  *slog.Logger

	mu   sync.Mutex
	open map[*connection]struct{}
	said logging.Sampler[string]
}

// limitConnections keeps to most connections in front of a listener.
func limitConnections(listener net.Listener, most int, shed func(), log *slog.Logger) *limited {
	return &limited{Listener: listener, most: most, shed: shed, log: log, open: make(map[*connection]struct{})}
}

// connection is an open one, with what its server does with it.
type connection struct {
	net.Conn

	limited *limited
	// tls is the layer above Conn, if there is one.
	tls *tls.Conn
	// state is an http.ConnState, and since the time of its last change in
	// nanoseconds of the epoch. They are written for every request, so no lock is
	// taken; one that is a moment older than the other does no harm.
	state atomic.Int32
	since atomic.Int64
}

// Accept returns the next connection that may stay.
func (c *limited) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			c.relieve(err)
			return nil, err
		}
		g := &connection{Conn: conn, limited: c}
		g.since.Store(time.Now().UnixNano())
		leaver := c.admit(g, time.Now())
		if leaver != nil {
			c.dismiss(leaver)
		}
		if leaver != g {
			return g, nil
		}
	}
}

// relieve closes a connection when the system has no more of them than are open,
// whatever the bound is. net/http asks for the next one after a moment.
func (c *limited) relieve(err error) {
	if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return
	}
	c.mu.Lock()
	leaver := c.worst(time.Now())
	delete(c.open, leaver)
	c.mu.Unlock()
	if leaver != nil {
		c.dismiss(leaver)
	}
}

// admit takes a connection in and returns the one that has to leave for it, which is
// g itself when all others have a reason to stay; nil when there is room.
func (c *limited) admit(g *connection, now time.Time) (leaver *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= c.most {
		if leaver = c.worst(now); leaver == nil {
			return g
		}
		delete(c.open, leaver)
	}
	c.open[g] = struct{}{}
	return leaver
}

// worst returns the connection to close among a sample, nil when all should stay. A
// range over a map begins anywhere.
func (c *limited) worst(now time.Time) (worst *connection) {
	var top rank
	looked := 0
	for g := range c.open {
		if s := g.rank(now); s.before(top) {
			worst, top = g, s
		}
		if looked++; looked == sampled {
			break
		}
	}
	return worst
}

// dismiss closes a connection; whoever serves it will see that.
func (c *limited) dismiss(leaver *connection) {
	_ = leaver.Conn.Close() // there is nothing to do about one that is broken
	if c.shed != nil {
		c.shed()
	}
	if others, ok := c.said.Admit("", time.Now()); ok {
		c.log.Warn("connections are closed, too many are open", "addr", c.Addr().String(), "limit", c.most, "closed", others+1, "peer", leaver.RemoteAddr().String())
	}
}

// Close lets the connection go.
func (g *connection) Close() error {
	g.limited.mu.Lock()
	delete(g.limited.open, g)
	g.limited.mu.Unlock()
	return g.Conn.Close()
}

// CloseWrite lets net/http end a response that is given before the whole request
// has come: without it the client may see the connection torn down instead of
// the answer.
func (g *connection) CloseWrite() error {
	if half, ok := g.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// watch is an [http.Server]'s ConnState: it keeps what the server does with each
// connection.
func watch(conn net.Conn, state http.ConnState) {
	g, ok := conn.(*connection)
	if layer, encrypted := conn.(*tls.Conn); encrypted {
		g, ok = layer.NetConn().(*connection)
		if ok && state == http.StateNew {
			g.tls = layer
		}
	}
	if ok {
		g.state.Store(int32(state))
		g.since.Store(time.Now().UnixNano())
	}
}

// class is how little a connection would be missed.
type class int

const (
	stays     class = iota
	young           // no request head, after a while in which most clients send it
	serving         // several requests at a time, for a long while: maybe a proxy at work
	idle            // kept alive for a while; its client connects anew
	slowBody        // one request in hand for a long while
	unstarted       // no request head, after a long while
)

// rank orders connections by who has to leave.
type rank struct {
	class class
	since int64 // nanoseconds of the epoch
}

// before reports whether s has to leave before other: it is of a higher class, or
// of the same for longer.
func (s rank) before(other rank) bool {
	return s.class > other.class || s.class == other.class && s.class != stays && s.since < other.since
}

func (g *connection) rank(now time.Time) rank {
	s := rank{since: g.since.Load()}
	age := time.Duration(now.UnixNano() - s.since)
	switch state := http.ConnState(g.state.Load()); {
	case state == http.StateNew && age >= slowHead:
		s.class = unstarted
	case state == http.StateNew && age >= youngHead:
		s.class = young
	case state == http.StateActive && age >= slowRequest && g.multiplexed():
		s.class = serving
	case state == http.StateActive && age >= slowRequest:
		s.class = slowBody
	case state == http.StateIdle && age >= longIdle:
		s.class = idle
	}
	return s
}

// multiplexed reports whether the connection carries several requests at a time.
// It is asked of connections with a request only: those have shaken hands, so
// the answer does not wait.
func (g *connection) multiplexed() bool {
	return g.tls != nil && g.tls.ConnectionState().NegotiatedProtocol == "h2"
}
