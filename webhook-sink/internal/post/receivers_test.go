package post

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// stall is a receiver on a real socket that counts: how many connections it took,
// and how many whole requests came over them.
type stall struct {
	address         string
	conns, requests atomic.Int64

	mu   sync.Mutex
	open map[net.Conn]bool
}

// visit is one connection to a stall.
type visit struct {
	net.Conn

	stall *stall
	nth   int64 // from 0
	from  *bufio.Reader
	over  <-chan struct{} // the test
}

// openStall has serve play the receiver of every connection, which is closed
// afterwards, until the end of the test.
func openStall(tb testing.TB, serve func(*visit)) *stall {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &stall{address: listener.Addr().String(), open: make(map[net.Conn]bool)}
	over := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.remember(conn, true)
			nth := s.conns.Add(1) - 1
			running.Go(func() {
				defer s.remember(conn, false)
				serve(&visit{Conn: conn, stall: s, nth: nth, from: bufio.NewReader(conn), over: over})
			})
		}
	})
	tb.Cleanup(func() {
		close(over)
		_ = listener.Close()
		s.closeAll()
		running.Wait()
	})
	return s
}

// remember keeps a connection to be closed with the test, or closes it now.
func (s *stall) remember(conn net.Conn, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open {
		s.open[conn] = true
		return
	}
	delete(s.open, conn)
	_ = conn.Close()
}

func (s *stall) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		_ = conn.Close()
	}
}

// await waits for requests: not all that was sent has been read when the client has
// given up.
func (s *stall) await(requests int64) {
	for end := time.Now().Add(longTimeout); s.requests.Load() < requests && time.Now().Before(end); {
		<-time.After(time.Millisecond)
	}
}

// read reads one whole request; false when there is none to come.
func (v *visit) read() bool {
	if !readRequest(v.from) {
		return false
	}
	v.stall.requests.Add(1)
	return true
}

// readHead leaves the body where it is.
func (v *visit) readHead() { _, _ = http.ReadRequest(v.from) }

func (v *visit) say(text string) bool {
	_, err := io.WriteString(v, text)
	return err == nil
}

// pause returns false when the test is over.
func (v *visit) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-v.over:
		return false
	}
}

// reset closes the connection with a RST.
func (v *visit) reset() {
	if conn, ok := v.Conn.(*net.TCPConn); ok {
		_ = conn.SetLinger(0)
	}
	_ = v.Close()
}

// What receivers do.

func answering(text string) func(*visit) {
	return func(v *visit) {
		for v.read() && v.say(text) {
		}
	}
}

func answeringOnce(text string) func(*visit) {
	return func(v *visit) {
		if v.read() {
			v.say(text)
		}
	}
}

func resetting(text string) func(*visit) {
	return func(v *visit) {
		if v.read() && v.say(text) {
			v.reset()
		}
	}
}

// flooding says the same again and again after one request, each time after a pause.
func flooding(head, piece string, pause time.Duration) func(*visit) {
	return func(v *visit) {
		for more := v.read() && v.say(head); more; {
			more = v.pause(pause) && v.say(piece)
		}
	}
}

func hanging(v *visit) { <-v.over }

func hangingAfterRequest(v *visit) {
	v.read()
	<-v.over
}

// forging answers the first request twice, the second time after a pause, and all
// others with a failure.
func forging(pause time.Duration) func(*visit) {
	return func(v *visit) {
		for n := 0; v.read(); n++ {
			if v.nth > 0 || n > 0 {
				v.say("HTTP/1.1 500 Real\r\nContent-Length: 0\r\n\r\n")
				continue
			}
			const forged = "HTTP/1.1 200 Forged\r\nContent-Length: 0\r\n\r\n"
			if pause == 0 {
				v.say(okResponse + forged)
				continue
			}
			v.say(okResponse)
			v.pause(pause)
			v.say(forged)
		}
	}
}

// encrypted has a receiver play its part behind a TLS handshake.
func encrypted(cert tls.Certificate, protocols []string, serve func(*visit)) func(*visit) {
	return func(v *visit) {
		conn := tls.Server(v.Conn, &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols})
		if conn.Handshake() != nil {
			return
		}
		serve(&visit{Conn: conn, stall: v.stall, nth: v.nth, from: bufio.NewReader(conn), over: v.over})
	}
}

const okResponse = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// bombResponse is 40 MB of zeros, packed: as gzip allows, in equal pieces.
var bombResponse = sync.OnceValue(func() string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(make([]byte, 1<<20))
	_ = w.Close()
	return strings.Repeat(packed.String(), 40)
})

var (
	megabyte  = strings.Repeat("a", 1<<20)
	manyLines = strings.Repeat("X-A: "+strings.Repeat("b", 60)+"\r\n", 1000)
)

// fullBacklog is a port that takes no more connections, and doesn't refuse them.
func fullBacklog(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	if err = syscall.Listen(fd, 0); err != nil {
		tb.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		tb.Fatal(err)
	}
	at, _ := name.(*syscall.SockaddrInet4)
	address := (&net.TCPAddr{IP: at.Addr[:], Port: at.Port}).String()
	for full := false; !full; {
		conn, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if full = err != nil; !full {
			tb.Cleanup(func() { _ = conn.Close() })
		}
	}
	return address
}

// closedPort is an address that refuses connections.
func closedPort(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
