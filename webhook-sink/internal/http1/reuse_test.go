package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// Bytes that came with a response must not be taken for the next one, also where
// TLS has them and the socket looks empty.
func TestForgedResponsesAreNeverTaken(t *testing.T) {
	const forged = "HTTP/1.1 200 Forged\r\nContent-Length: 0\r\n\r\n"
	server, policy := certified(t)
	for name, say := range map[string]func(io.Writer){
		"in one piece":       func(w io.Writer) { _, _ = io.WriteString(w, okResponse+forged) },
		"in a second record": func(w io.Writer) { _, _ = io.WriteString(w, okResponse); _, _ = io.WriteString(w, forged) },
		"beyond the buffer": func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"+strings.Repeat("x", 9000)+forged)
		},
		"behind chunks": func(w io.Writer) {
			_, _ = io.WriteString(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"+forged)
		},
		"behind no content": func(w io.Writer) { _, _ = io.WriteString(w, "HTTP/1.1 204 No Content\r\n\r\nx") },
	} {
		for _, scheme := range []string{"http", "https"} {
			dial, dials := listen(t, func(conn net.Conn) {
				// All of it leaves in one write, as packets may join on the way.
				joined := bufio.NewWriter(conn)
				stream := io.ReadWriter(struct {
					io.Reader
					io.Writer
				}{conn, joined})
				if scheme == "https" {
					secure := tls.Server(&joinedConn{Conn: conn, out: joined}, server)
					if secure.Handshake() != nil {
						return
					}
					stream = secure
				}
				for from := bufio.NewReader(stream); ; {
					if _, ok := readRequest(from); !ok {
						return
					}
					hold(joined, func() { say(stream) })
				}
			})
			client := newClient(t, Options{Dial: dial, TLS: policy})
			e := newEndpoint(t, scheme+"://hooks.example.com/")
			for range 3 {
				if _, err := client.Post(t.Context(), far(), e, []byte("{}"), ""); err != nil {
					t.Errorf("%s, %s: %v", scheme, name, err)
				}
			}
			if dials.Load() != 3 {
				t.Errorf("%s, %s: %d connections for three requests, want 3", scheme, name, dials.Load())
			}
		}
	}
}

// joinedConn writes through a buffer that is flushed before each read.
type joinedConn struct {
	net.Conn

	out *bufio.Writer
}

func (c *joinedConn) Write(p []byte) (int, error) { return c.out.Write(p) }

func (c *joinedConn) Read(p []byte) (int, error) {
	if err := c.out.Flush(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

func hold(out *bufio.Writer, say func()) {
	say()
	_ = out.Flush()
}

func TestConnectionsOfManyRequests(t *testing.T) {
	const inFlight, posts = 64, 10_000
	dial, dials := listen(t, answering(okResponse))
	client := newClient(t, Options{Dial: dial, Idle: inFlight})
	e := newEndpoint(t, "http://hooks.example.com/")
	var left atomic.Int64
	left.Store(posts)
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := client.Post(t.Context(), far(), e, []byte("{}"), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	if n := dials.Load(); n > inFlight*3/2 {
		t.Errorf("%d connections for %d requests, %d at a time", n, posts, inFlight)
	}
}

func TestIdleConnections(t *testing.T) {
	const maxIdleTime = 30 * time.Second
	answer := func(extra string) string { return "HTTP/1.1 204 No Content\r\n" + extra + "\r\n" }
	tests := []struct {
		name   string
		answer string
		pauses []time.Duration // before each request
		dials  int64
	}{
		{"kept for 30 seconds", answer(""), []time.Duration{0, maxIdleTime - 1, maxIdleTime - 1}, 1},
		{"and no longer", answer(""), []time.Duration{0, maxIdleTime, maxIdleTime}, 3},
		{"as long as the receiver says, less a second", answer("Keep-Alive: timeout=5\r\n"), []time.Duration{0, 4*time.Second - 1, 4 * time.Second}, 2},
		{"not at all", answer("Keep-Alive: timeout=1\r\n"), []time.Duration{0, 0, 0}, 3},
		{"never for more than 30 seconds", answer("Keep-Alive: timeout=300\r\n"), []time.Duration{0, maxIdleTime - 1, maxIdleTime}, 2},
		{"at most five minutes old", answer(""), []time.Duration{0, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second, 29 * time.Second}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, dials := pipes(answering(test.answer))
				client := newClient(t, Options{Dial: dial})
				e := newEndpoint(t, "http://hooks.example.com/")
				for _, pause := range test.pauses {
					virtual.Sleep(pause) // virtual
					if _, err := client.Post(t.Context(), far(), e, []byte("{}"), ""); err != nil {
						t.Fatal(err)
					}
				}
				if dials.Load() != test.dials {
					t.Errorf("%d connections, want %d", dials.Load(), test.dials)
				}
			})
		})
	}
}

// An endpoint that nobody uses any more loses its connections with no help.
func TestForgottenEndpointsAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		dial, _ := pipes(func(conn net.Conn) {
			open.Add(1)
			defer open.Add(-1)
			answering("HTTP/1.1 204 No Content\r\n\r\n")(conn)
		})
		client := newClient(t, Options{Dial: dial})
		for range 10 {
			e := newEndpoint(t, "http://hooks.example.com/")
			if _, err := client.Post(t.Context(), far(), e, []byte("{}"), ""); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if open.Load() != 10 {
			t.Errorf("%d connections open, want 10", open.Load())
		}
		virtual.Sleep(time.Minute) // virtual
		synctest.Wait()
		if open.Load() != 0 {
			t.Errorf("%d connections open after a minute", open.Load())
		}
	})
}

func TestIdleConnectionsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var open atomic.Int64
		dial, dials := pipes(func(conn net.Conn) {
			open.Add(1)
			defer open.Add(-1)
			from := bufio.NewReader(conn)
			for _, more := readRequest(from); more; _, more = readRequest(from) {
				<-release
				_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n")
			}
		})
		client := newClient(t, Options{Dial: dial, Idle: 2})
		e := newEndpoint(t, "http://hooks.example.com/")
		post := func() {
			if _, err := client.Post(t.Context(), far(), e, []byte("{}"), ""); err != nil {
				t.Error(err)
			}
		}
		for range 5 {
			go post()
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		if dials.Load() != 5 || open.Load() != 2 {
			t.Errorf("%d connections, %d of them kept, want 5 and 2", dials.Load(), open.Load())
		}
		post()
		client.Close()
		post() // over a connection that is closed at once
		synctest.Wait()
		if dials.Load() != 6 || open.Load() != 0 {
			t.Errorf("closed: %d connections, %d open, want 6 and none", dials.Load(), open.Load())
		}
	})
}

// The watch on a context stays with the connection; it must not outlive its use for
// another.
func TestContextsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, dials := pipes(answering("HTTP/1.1 204 No Content\r\n\r\n"))
		client := newClient(t, Options{Dial: dial})
		e := newEndpoint(t, "http://hooks.example.com/")
		post := func(ctx context.Context) error {
			_, err := client.Post(ctx, far(), e, []byte("{}"), "")
			return err
		}
		one, stopOne := context.WithCancel(t.Context())
		two, stopTwo := context.WithCancel(t.Context())
		for _, ctx := range []context.Context{one, two, context.Background(), one, two} {
			if err := post(ctx); err != nil {
				t.Fatal(err)
			}
		}
		stopOne() // is nobody's business any more
		synctest.Wait()
		if err := post(two); err != nil || dials.Load() != 1 {
			t.Errorf("after another context's end: %v, %d connections", err, dials.Load())
		}
		stopTwo() // while the connection is idle
		synctest.Wait()
		if err := post(two); !errors.Is(err, context.Canceled) || dials.Load() != 1 {
			t.Errorf("after its end: %v, %d connections", err, dials.Load())
		}
		if err := post(t.Context()); err != nil || dials.Load() != 2 {
			t.Errorf("on a connection that was cut: %v, %d connections", err, dials.Load())
		}
	})
}

// A stop ends every phase at once.
func TestStopsCutRequestsShort(t *testing.T) {
	server, policy := certified(t)
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	deaf := func(net.Conn) {} // but open
	for name, test := range map[string]struct {
		scheme string
		serve  func(net.Conn)
		size   int
	}{
		"handshake":            {"https", silent, 1},
		"writing":              {"http", deaf, 1},
		"writing much":         {"http", deaf, 2 * writeAlone},
		"waiting":              {"http", silent, 1},
		"waiting after much":   {"http", silent, 2 * writeAlone},
		"waiting for more":     {"http", answering("HTTP/1.1 100 Continue\r\n\r\n"), 1},
		"waiting, behind TLS":  {"https", func(conn net.Conn) { silent(tls.Server(conn, server)) }, 1},
		"reading what is left": {"http", answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended := make(chan struct{})
				dial, _ := pipes(func(conn net.Conn) {
					test.serve(conn)
					<-ended
				})
				client := newClient(t, Options{Dial: dial, TLS: policy})
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, stop)
				began := time.Now()
				_, err := client.Post(ctx, far(), newEndpoint(t, test.scheme+"://hooks.example.com/"), make([]byte, test.size), "")
				if took := time.Since(began); took != 100*time.Millisecond || (err == nil) != (name == "reading what is left") {
					t.Errorf("error %v after %s", err, took)
				}
				close(ended)
			})
		})
	}
}

// What a request costs is why this package exists; net/http makes more than fifty
// allocations and two goroutines a connection.
func TestRequestsDoNotAllocate(t *testing.T) {
	e := newEndpoint(t, "http://hooks.example.com/")
	body := make([]byte, 1000)
	size := len(e.appendRequest(nil, body, "signature"))
	dial, _ := listen(t, func(conn net.Conn) {
		request, response := make([]byte, size), []byte(okResponse)
		for {
			if _, err := io.ReadFull(conn, request); err != nil {
				return
			}
			if _, err := conn.Write(response); err != nil {
				return
			}
		}
	})
	client := newClient(t, Options{Dial: dial})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	post := func() {
		if _, err := client.Post(ctx, far(), e, body, "signature"); err != nil {
			t.Error(err)
		}
	}
	post()
	goroutines := runtime.NumGoroutine()
	// The pool of buffers may be emptied by a collection in between.
	if n := testing.AllocsPerRun(500, post); n > 1 {
		t.Errorf("%.1f allocations a request", n)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines, before %d", n, goroutines)
	}
}
