package http1

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var errGone = errors.New("peer has gone")

// goneConn is a connection of which the peer has gone once gone is set, without the
// client having been told: what the network does between a peer's last packet and
// its arrival.
type goneConn struct {
	net.Conn

	gone  *atomic.Bool
	takes int // bytes that the kernel still takes
}

func (c *goneConn) Write(p []byte) (int, error) {
	if !c.gone.Load() {
		return c.Conn.Write(p)
	}
	taken := min(c.takes, len(p))
	c.takes -= taken
	if taken < len(p) {
		return taken, errGone
	}
	_ = c.Close() // its answer is to hang up
	return taken, nil
}

// The second request meets a connection whose peer has gone. It goes out again only
// if the kernel took no byte of it; in every other case somebody may have seen it.
func TestRequestsAreSentAgainOnlyIfNothingWasTaken(t *testing.T) {
	const all = 1 << 30
	server, policy := certified(t)
	tests := []struct {
		name  string
		size  int
		takes int
		again bool
	}{
		{"nothing taken", 100, 0, true},
		{"one byte taken", 100, 1, false},
		{"all but a byte", 100, 100, false},
		{"all taken", 100, all, false},
		{"large, nothing taken", 2 * writeAlone, 0, true},
		{"large, one byte taken", 2 * writeAlone, 1, false},
		{"large, half taken", 2 * writeAlone, writeAlone, false},
		{"large, all taken", 2 * writeAlone, all, false},
	}
	for _, scheme := range []string{"http", "https"} {
		for _, test := range tests {
			t.Run(scheme+"/"+test.name, func(t *testing.T) {
				var (
					mu      sync.Mutex
					bodies  []string
					gone    atomic.Bool
					serving = func(conn net.Conn) {
						if scheme == "https" {
							conn = tls.Server(conn, server)
						}
						from := bufio.NewReader(conn)
						for body, more := readRequest(from); more; body, more = readRequest(from) {
							mu.Lock()
							bodies = append(bodies, body)
							mu.Unlock()
							_, _ = io.WriteString(conn, okResponse)
						}
					}
				)
				dial, dials := listen(t, serving)
				client := newClient(t, Options{TLS: policy, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					if dials.Load() > 1 {
						return conn, err
					}
					return &goneConn{Conn: conn, gone: &gone, takes: test.takes}, err
				}})
				e := newEndpoint(t, scheme+"://hooks.example.com/")
				if _, err := client.Post(t.Context(), far(), e, []byte("first"), ""); err != nil {
					t.Fatal(err)
				}
				gone.Store(true)
				second := strings.Repeat("x", test.size)
				_, err := client.Post(t.Context(), far(), e, []byte(second), "")
				if again := err == nil; again != test.again {
					t.Errorf("error %v, want it sent again: %t", err, test.again)
				}
				mu.Lock()
				defer mu.Unlock()
				if test.again != (len(bodies) == 2 && bodies[1] == second) {
					t.Errorf("%d requests arrived", len(bodies))
				}
			})
		}
	}
}

// A new connection is never tried twice, whatever it took.
func TestNewConnectionsAreTriedOnce(t *testing.T) {
	var gone atomic.Bool
	gone.Store(true)
	dial, dials := listen(t, answering(okResponse))
	client := newClient(t, Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return &goneConn{Conn: conn, gone: &gone}, err
	}})
	// It looks for a reason first, until the deadline if need be.
	if _, err := client.Post(t.Context(), far(), newEndpoint(t, "http://hooks.example.com/"), []byte("{}"), ""); !errors.Is(err, errGone) {
		t.Errorf("error %v", err)
	}
	if dials.Load() != 1 {
		t.Errorf("%d connections", dials.Load())
	}
}

// Against a server that hangs up after each answer without a word, no request
// arrives twice, and none fails of which a look at the socket could have known.
func TestServersThatHangUpUnannounced(t *testing.T) {
	const posts = 2000
	arrived := make(chan string, 4*posts)
	dial, _ := listen(t, func(conn net.Conn) {
		if body, ok := readRequest(bufio.NewReader(conn)); ok {
			arrived <- body
			_, _ = io.WriteString(conn, okResponse)
		}
	})
	client := newClient(t, Options{Dial: dial})
	e := newEndpoint(t, "http://hooks.example.com/")
	failed := map[bool]int{}
	for _, waiting := range []bool{true, false} {
		for i := range posts {
			_, err := client.Post(t.Context(), far(), e, fmt.Appendf(nil, "%t %d", waiting, i), "")
			if err != nil {
				failed[waiting]++
			}
			if waiting {
				awaitNews(client, e)
			}
		}
	}
	if failed[true] > 0 {
		t.Errorf("%d requests failed on connections that could be seen to be closed", failed[true])
	}
	t.Logf("%d of %d failed on connections closed at that moment", failed[false], posts)
	seen := make(map[string]bool)
	for range len(arrived) {
		body := <-arrived
		if seen[body] {
			t.Errorf("request %s arrived twice", body)
		}
		seen[body] = true
	}
	if len(seen) < 2*posts-failed[false] {
		t.Errorf("%d requests arrived, %d failed", len(seen), failed[false])
	}
}

// awaitNews waits until something has arrived on the idle connection, if only its end.
func awaitNews(client *Client, e *Endpoint) {
	conn, ok := client.pool.Take(&e.idle)
	if !ok {
		return
	}
	for conn.SetDeadline(far()) == nil && conn.quiet() {
		<-time.After(50 * time.Microsecond)
	}
	client.release(e, conn, time.Minute, true)
}
