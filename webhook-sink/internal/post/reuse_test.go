package post

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// counted counts the dials of another.
func counted(dial DialFunc, dials *atomic.Int64) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dial(ctx, network, address)
	}
}

// A connection is used again after bodies that can be read to their end within
// the limits, and only then.
func TestConnectionsAreUsedAgain(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	body := func(size int) string {
		return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", head, size, strings.Repeat("x", size))
	}
	tests := []struct {
		name  string
		serve func(net.Conn)
		dials int64 // of three POSTs
	}{
		{"no body", answer("HTTP/1.1 204 No Content\r\n\r\n"), 1},
		{"empty body", answer(body(0)), 1},
		{"small body", answer(body(2)), 1},
		{"an error's body", answer("HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno"), 1},
		{"as large as may be", answer(body(maxDrainBytes)), 1},
		{"a byte larger", answer(body(maxDrainBytes + 1)), 3},
		{"chunks", answer(head, "Transfer-Encoding: chunked\r\n\r\n", "2\r\nok\r\n", "0\r\n\r\n"), 1},
		{"says it will close", answer(head + "Connection: close\r\nContent-Length: 0\r\n\r\n"), 3},
		{"ends by closing", once(head + "\r\nok"), 3},
		{"never ends", answer(head + "Content-Length: 5\r\n\r\n"), 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var dials atomic.Int64
				client := newClient(t, Options{Timeout: timeout, Dial: counted(pipes(t, test.serve), &dials)})
				target := newTarget(t, hookURL)
				for range 3 {
					client.Post(t.Context(), target, []byte("{}"), "")
					synctest.Wait() // until the connection is back in the pool
				}
				if dials.Load() != test.dials {
					t.Errorf("%d connections for three requests, want %d", dials.Load(), test.dials)
				}
			})
		})
	}
}

func TestIdleConnectionsAreGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int64
		client := newClient(t, Options{Timeout: timeout, Dial: counted(pipes(t, answer("HTTP/1.1 204 No Content\r\n\r\n")), &dials)})
		target := newTarget(t, hookURL)
		for _, pause := range []time.Duration{0, idleTime - time.Second, idleTime + time.Second} {
			virtual.Sleep(pause) // virtual
			client.Post(t.Context(), target, []byte("{}"), "")
		}
		if dials.Load() != 2 {
			t.Errorf("%d connections, want 2: one was idle for too long", dials.Load())
		}
	})
}

// staleConn is a connection of which the peer has gone once stale is set, without
// the client having been told: what the network does between a peer's last packet
// and its arrival.
type staleConn struct {
	net.Conn

	stale *atomic.Bool
	takes int // bytes of a request that the kernel still takes
}

func (c *staleConn) Write(p []byte) (int, error) {
	if !c.stale.Load() {
		return c.Conn.Write(p)
	}
	if c.takes < len(p) {
		return c.takes, io.ErrClosedPipe
	}
	_ = c.Close() // the answer is the peer's hang-up
	return len(p), nil
}

// The second request meets a connection whose peer has gone. It goes out again
// only if the kernel took no byte of it; in every other case the receiver may
// have seen it.
func TestStaleConnections(t *testing.T) {
	tests := []struct {
		name    string
		takes   int
		headers []workspace.Header
		want    outcome.Outcome
		dials   int64
	}{
		{"nothing taken", 0, nil, isDelivered, 2},
		{"one byte taken", 1, nil, isNetwork, 1},
		{"all taken", 1 << 20, nil, isNetwork, 1},
		{"all taken, and a header that makes net/http repeat it", 1 << 20, []workspace.Header{
			{Name: "Idempotency-Key", Value: "k"}, {Name: "X-Idempotency-Key", Value: "k"},
		}, isNetwork, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var (
					dials atomic.Int64
					stale atomic.Bool
				)
				dial := pipes(t, answer("HTTP/1.1 204 No Content\r\n\r\n"))
				client := newClient(t, Options{Timeout: timeout, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					if dials.Add(1) > 1 {
						return conn, err
					}
					return &staleConn{Conn: conn, stale: &stale, takes: test.takes}, err
				}})
				target := newTarget(t, hookURL, test.headers...)
				if got := client.Post(t.Context(), target, []byte("{}"), ""); !cmp.Equal(got, isDelivered) {
					t.Fatalf("first: %+v", got)
				}
				synctest.Wait()
				stale.Store(true)
				if got := client.Post(t.Context(), target, []byte("{}"), ""); !cmp.Equal(got, test.want) {
					t.Errorf("second: %+v, want %+v", got, test.want)
				}
				if dials.Load() != test.dials {
					t.Errorf("%d connections, want %d", dials.Load(), test.dials)
				}
			})
		})
	}
}

// Against a real server that hangs up after each answer without a word, no
// request arrives twice, whatever else becomes of it.
func TestServersThatHangUpUnannounced(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 1000)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if request, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				text, _ := io.ReadAll(request.Body)
				seen <- string(text)
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	client := newClient(t, Options{Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, listener.Addr().String())
	}})
	target := newTarget(t, hookURL)
	succeeded := 0
	for i := range 300 {
		if client.Post(t.Context(), target, []byte(strconv.Itoa(i)), "").Verdict == outcome.Delivered {
			succeeded++
		}
	}
	arrived := make(map[string]int)
	for len(seen) > 0 {
		arrived[<-seen]++
	}
	for text, times := range arrived {
		if times > 1 {
			t.Errorf("request %s arrived %d times", text, times)
		}
	}
	if len(arrived) < succeeded || succeeded == 0 {
		t.Errorf("%d delivered, %d arrived", succeeded, len(arrived))
	}
}

func TestShutdownIsNoFailure(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, expire := context.WithTimeoutCause(t.Context(), 0, errors.New("grace is over"))
	defer expire()
	for name, ctx := range map[string]context.Context{"stopped": stopped, "out of time": late} {
		dial := func(context.Context, string, string) (net.Conn, error) {
			t.Errorf("%s: dialed", name)
			return nil, io.EOF
		}
		client := newClient(t, Options{Dial: dial})
		if got := client.Post(ctx, newTarget(t, hookURL), []byte("{}"), ""); !cmp.Equal(got, outcome.Outcome{Verdict: outcome.Abandoned}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestShutdownCutsARequestShort(t *testing.T) {
	for name, test := range map[string]struct {
		serve func(net.Conn)
		want  outcome.Outcome
	}{
		"waiting for the answer": {silent, outcome.Outcome{Verdict: outcome.Abandoned}},
		"reading the body":       {answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), isDelivered},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, Options{Timeout: timeout, Dial: pipes(t, test.serve)})
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(100*time.Millisecond, stop)
				began := time.Now()
				got := client.Post(ctx, newTarget(t, hookURL), []byte("{}"), "")
				if took := time.Since(began); !cmp.Equal(got, test.want) || took != 100*time.Millisecond {
					t.Errorf("result %+v after %s", got, took)
				}
			})
		})
	}
}

func TestEndlessBodiesAreReadToALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		client := newClient(t, Options{Timeout: timeout, Dial: pipes(t, func(peer net.Conn) {
			readRequest(bufio.NewReader(peer))
			_, err := io.WriteString(peer, "HTTP/1.1 200 OK\r\n\r\n")
			for err == nil {
				var n int
				n, err = peer.Write(make([]byte, 1000))
				written.Add(int64(n))
			}
		})})
		client.Post(t.Context(), newTarget(t, hookURL), []byte("{}"), "")
		synctest.Wait()
		const readAhead = 16 << 10 // of buffers below
		if n := written.Load(); n < maxDrainBytes || n > maxDrainBytes+readAhead {
			t.Errorf("%d bytes of the body read", n)
		}
	})
}
