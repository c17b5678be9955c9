package http1

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A receiver that refuses to read on has a moment to say why.
func TestReasonsForRefusing(t *testing.T) {
	tests := []struct {
		name string
		say  string
		size int
		want int // status; zero: the error of writing
		took time.Duration
	}{
		{"says why", "HTTP/1.1 413 Big\r\nContent-Length: 0\r\n\r\n", 100, 413, 0},
		{"says nothing", "", 100, 0, lookTime},
		{"says half of it", "HTTP/1.1 413", 100, 0, lookTime},
		{"says something else", "SSH-2.0-", 100, 0, 0},
		{"large, says why", "HTTP/1.1 413 Big\r\nContent-Length: 0\r\n\r\n", 2 * writeAlone, 413, 0},
		{"large, says nothing", "", 2 * writeAlone, 0, lookTime},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := make(chan struct{})
				var gone atomic.Bool
				gone.Store(true)
				client := newClient(t, Options{Dial: func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						_, _ = io.WriteString(theirs, test.say)
						<-over
					}()
					return &goneConn{Conn: halfConn{ours}, gone: &gone, takes: 1}, nil
				}})
				began := time.Now()
				response, err := client.Post(t.Context(), far(), newEndpoint(t, "http://hooks.example.com/"), make([]byte, test.size), "")
				took := time.Since(began)
				if response.Status != test.want || (test.want == 0) != errors.Is(err, errGone) || took != test.took {
					t.Errorf("status %d, error %v after %s, want status %d after %s", response.Status, err, took, test.want, test.took)
				}
				close(over)
			})
		})
	}
}

// halfConn takes what is written, and stays open for reading when its writer closes.
type halfConn struct{ net.Conn }

func (halfConn) Write(p []byte) (int, error) { return len(p), nil }

// The look for a reason does not last beyond the deadline.
func TestReasonsAreSoughtUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var gone atomic.Bool
		gone.Store(true)
		dial, _ := pipes(func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
		client := newClient(t, Options{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return &goneConn{Conn: conn, gone: &gone}, err
		}})
		began := time.Now()
		_, err := client.Post(t.Context(), time.Now().Add(lookTime/2), newEndpoint(t, "http://hooks.example.com/"), []byte("{}"), "")
		if took := time.Since(began); !errors.Is(err, errGone) || took != lookTime/2 {
			t.Errorf("error %v after %s", err, took)
		}
	})
}

// A large body is read to its end although the response began before, and then the
// connection is as good as new.
func TestLargeBodies(t *testing.T) {
	got := make(chan string, 10)
	dial, dials := listen(t, func(conn net.Conn) {
		from := bufio.NewReader(conn)
		for body, more := readRequest(from); more; body, more = readRequest(from) {
			got <- body
			_, _ = io.WriteString(conn, okResponse)
		}
	})
	client := newClient(t, Options{Dial: dial})
	e := newEndpoint(t, "http://hooks.example.com/")
	for _, size := range []int{writeAlone - 1000, writeAlone, 1 << 20, 4 << 20} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte('a' + i%26)
		}
		want := string(body)
		if _, err := client.Post(t.Context(), far(), e, body, ""); err != nil {
			t.Fatal(err)
		}
		clear(body) // the caller's again
		if <-got != want {
			t.Errorf("body of %d bytes is not what arrived", size)
		}
	}
	if dials.Load() != 1 {
		t.Errorf("%d connections", dials.Load())
	}
}

// A cut holds, whatever deadline is set after it.
func TestCutsHold(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	conn := newConn(ours)
	defer conn.close()
	conn.interrupt()
	conn.limit(conn.SetReadDeadline, far())
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if conn.arm(context.Background(), far()) {
		t.Error("armed again")
	}
}
