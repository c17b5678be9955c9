package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// pipes is a listener in memory: virtual time can see that nobody reads.
type pipes struct {
	conns  chan net.Conn
	errs   chan error
	closed chan struct{}
}

func newPipes() *pipes { return &pipes{make(chan net.Conn), make(chan error), make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case err := <-p.errs:
		return nil, err
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { close(p.closed); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	synctest.Wait()
	return client
}

// open reports whether the server has not yet closed a connection on which
// nothing is to be read.
func open(c net.Conn) bool {
	c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	c.SetReadDeadline(time.Time{})
	return !errors.Is(err, io.EOF)
}

// house is a server with room for a few, in virtual time.
type house struct {
	*pipes
	shed   atomic.Int64
	log    bytes.Buffer
	handed chan struct{} // one for each request that the handler may answer
}

func newHouse(t *testing.T, room int, configure ...func(*HTTPServer)) *house {
	t.Helper()
	h := &house{pipes: newPipes(), handed: make(chan struct{})}
	server := NewHTTPServer("house", h.pipes, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-h.handed
		}
		io.Copy(io.Discard, r.Body)
	}), slog.New(slog.NewTextHandler(&h.log, nil)))
	server.MaxConnections = room
	server.Shed = func() { h.shed.Add(1) }
	for _, set := range configure {
		set(server)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return h
}

// idle dials a connection that has had one request answered.
func (h *house) idle(t *testing.T) net.Conn {
	t.Helper()
	c := h.dial()
	h.ask(t, c)
	return c
}

// ask sends a request and reads the answer, which must be a good one.
func (h *house) ask(t *testing.T, c net.Conn) {
	t.Helper()
	go io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	head := make([]byte, 200)
	if n, err := c.Read(head); err != nil || !bytes.HasPrefix(head[:n], []byte("HTTP/1.1 200")) {
		t.Errorf("got %q, %v", head[:n], err)
	}
	synctest.Wait()
}

// send writes a part of a request and waits until the server has it.
func (h *house) send(c net.Conn, text string) net.Conn {
	io.WriteString(c, text)
	synctest.Wait()
	return c
}

const (
	halfHead = "GET / HTTP/1.1\r\nHost: x\r\n"
	halfBody = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf"
)

func TestWhoLeavesWhenACrowdIsTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 5)
		busy, older := h.idle(t), h.idle(t)
		virtual.Sleep(time.Millisecond)
		young := h.idle(t)
		slow := h.send(h.dial(), halfBody)
		virtual.Sleep(4 * time.Second)
		late := h.send(h.dial(), halfHead)
		virtual.Sleep(time.Second + time.Millisecond)
		for _, next := range []struct {
			name string
			conn net.Conn
		}{
			{"no head for a second", late},
			{"a request in hand for two", slow},
			{"idle for longest", older},
			{"idle for less", young},
		} {
			if !open(next.conn) {
				t.Fatalf("%s: closed too early", next.name)
			}
			h.ask(t, busy)
			defer h.dial().Close()
			if open(next.conn) {
				t.Errorf("%s: not closed", next.name)
			}
		}
		// Those who stayed have only just come, or had a request a moment ago.
		h.ask(t, busy)
		if c := h.dial(); open(c) {
			t.Error("nobody has to leave, and yet there was room")
		}
		if got := h.shed.Load(); got != 5 {
			t.Errorf("shed %d, want 5", got)
		}
		if got := h.log.String(); strings.Count(got, "too many are open") != 1 || !strings.Contains(got, "limit=5 closed=1") {
			t.Errorf("log:\n%s", got)
		}
	})
}

// TestTheNewcomerIsNotTheFirstToGo has a house full of connections that have not
// been open for long, and of which none has sent a head.
func TestTheNewcomerIsNotTheFirstToGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 2)
		first, second := h.send(h.dial(), halfHead), h.send(h.dial(), halfHead)
		virtual.Sleep(youngHead - time.Millisecond)
		if c := h.dial(); open(c) {
			t.Error("a head that may be on its way had to leave")
		}
		virtual.Sleep(time.Millisecond)
		healthy := h.dial()
		if open(first) == open(second) {
			t.Errorf("open: %t and %t, want one of them closed", open(first), open(second))
		}
		h.ask(t, healthy)
		healthy.Close()
	})
}

func TestACrowdWithinItsBoundStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 3)
		a, b := h.idle(t), h.idle(t)
		for range 20 { // each makes room for the next
			h.idle(t).Close()
			synctest.Wait()
		}
		virtual.Sleep(50 * time.Second)
		h.ask(t, a)
		h.ask(t, b)
		if got := h.shed.Load(); got != 0 {
			t.Errorf("shed %d, want none", got)
		}
	})
}

// TestASystemWithoutRoom has the system run out of descriptors below the bound.
func TestASystemWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 100)
		stays := h.idle(t)
		full := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
		h.errs <- full // nobody has to leave yet
		goes := h.idle(t)
		virtual.Sleep(longIdle)
		h.ask(t, stays)
		for range 2 {
			h.errs <- full
			synctest.Wait()
			virtual.Sleep(time.Second) // net/http's pause
		}
		if open(goes) {
			t.Error("a connection that is idle was not closed")
		}
		h.ask(t, stays)
		h.ask(t, h.dial())
		if got := h.shed.Load(); got != 1 {
			t.Errorf("shed %d, want 1", got)
		}
	})
}

// TestAHandlerAtWorkIsNotDisturbed fills the house with requests in hand.
func TestAHandlerAtWorkIsNotDisturbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 2)
		a := h.send(h.dial(), "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
		b := h.send(h.dial(), "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
		virtual.Sleep(slowRequest - time.Second)
		if c := h.dial(); open(c) {
			t.Error("a connection was taken in beyond the bound")
		}
		close(h.handed)
		for _, c := range []net.Conn{a, b} {
			head := make([]byte, 200)
			if n, err := c.Read(head); err != nil || !bytes.HasPrefix(head[:n], []byte("HTTP/1.1 200")) {
				t.Errorf("got %q, %v", head[:n], err)
			}
		}
	})
}

// TestSlowClientsDoNotLockOut has a house full of slow clients that come back at
// once, while a healthy one connects anew for each request.
func TestSlowClientsDoNotLockOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 40)
		slow := make([]net.Conn, 60)
		refused := 0
		for second := range 30 {
			for i, c := range slow {
				if c == nil || !open(c) {
					slow[i] = h.dial()
					go io.WriteString(slow[i], []string{halfHead, halfBody}[i%2]) // may be closed already
				}
			}
			synctest.Wait()
			virtual.Sleep(time.Second + time.Millisecond)
			healthy := h.dial()
			if !open(healthy) {
				refused++
				continue
			}
			h.ask(t, healthy)
			healthy.Close()
			if n := h.shed.Load(); second == 29 && n < 100 {
				t.Errorf("only %d were shed: the test shows nothing", n)
			}
		}
		if refused > 0 {
			t.Errorf("the healthy client was refused %d times of 30", refused)
		}
	})
}

// TestStandingIsAnOrder holds what the choice relies on, for any two open.
func TestStandingIsAnOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	now := time.Now()
	some := func() rank {
		g := &connection{}
		g.state.Store(int32(random.IntN(5)))
		g.since.Store(now.Add(-time.Duration(random.IntN(8)) * time.Second).UnixNano())
		return g.rank(now)
	}
	for range 10_000 {
		a, b, c := some(), some(), some()
		if a.before(a) || a.before(b) && b.before(a) {
			t.Fatalf("%v and %v: each before the other", a, b)
		}
		if a.before(b) && b.before(c) && !a.before(c) {
			t.Fatalf("%v, %v, %v: not transitive", a, b, c)
		}
		if a.class == stays && a.before(b) {
			t.Fatalf("%v has to leave", a)
		}
	}
}

func BenchmarkWorst(b *testing.B) {
	c := limitConnections(nil, 0, nil, nil)
	for i := range 10_000 {
		g := &connection{}
		g.state.Store(int32(http.StateActive))
		g.since.Store(int64(i))
		c.open[g] = struct{}{}
	}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		if c.worst(now) == nil {
			b.Fatal(fmt.Sprint("nobody among ", len(c.open)))
		}
	}
}
