package post

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

const (
	hookURL = "http://" + hookHost + "/"
	tlsURL  = "https://" + hookHost + "/"
	timeout = 5 * time.Second // of the clients here; time is virtual
)

var (
	isDelivered = outcome.Outcome{Verdict: outcome.Delivered}
	isTimeout   = outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout, Detail: detailTimeout}
	isNetwork   = outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonNetwork, Detail: detailNetwork}
)

func malformed(what string) outcome.Outcome {
	result := isNetwork
	result.Cause = "malformed response: " + what
	return result
}

// pipes dials a peer of which serve plays the part, and waits with the end of the
// test for serve to have noticed that the client hung up. serve may return and
// leave the connection open.
func pipes(tb testing.TB, serve func(peer net.Conn)) DialFunc {
	tb.Helper()
	var peers sync.WaitGroup
	tb.Cleanup(peers.Wait)
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		peers.Go(func() { serve(theirs) })
		return ours, nil
	}
}

// readRequest reads one whole request; false when there is none to come.
func readRequest(from *bufio.Reader) bool {
	request, err := http.ReadRequest(from)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

// answer serves requests, writing the pieces after each until the client hangs up.
func answer(pieces ...string) func(net.Conn) {
	return func(peer net.Conn) {
		for from := bufio.NewReader(peer); readRequest(from); {
			for _, piece := range pieces {
				if _, err := io.WriteString(peer, piece); err != nil {
					return
				}
			}
		}
	}
}

// forEver writes a head and then the same piece again and again, each after a
// pause, until the client hangs up.
func forEver(head, piece string, pause time.Duration) func(net.Conn) {
	return func(peer net.Conn) {
		if !readRequest(bufio.NewReader(peer)) {
			return
		}
		_, err := io.WriteString(peer, head)
		for err == nil {
			virtual.Sleep(pause) // virtual
			_, err = io.WriteString(peer, piece)
		}
	}
}

// once answers one request and hangs up.
func once(response string) func(net.Conn) {
	return func(peer net.Conn) {
		defer peer.Close()
		if readRequest(bufio.NewReader(peer)) {
			_, _ = io.WriteString(peer, response)
		}
	}
}

// silent reads nothing and says nothing until the client hangs up.
func silent(peer net.Conn) { _, _ = io.Copy(io.Discard, peer) }

func bomb(tb testing.TB) string {
	tb.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(make([]byte, 32<<20)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return packed.String()
}

// Whatever a receiver does, the attempt ends in bounded time and the status line
// decides.
func TestHostileReceivers(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	zip := bomb(t)
	tests := []struct {
		name  string
		serve func(net.Conn)
		want  outcome.Outcome
		took  time.Duration
	}{
		{"accepts and says nothing", silent, isTimeout, timeout},
		{"never reads", func(peer net.Conn) {}, isTimeout, timeout},
		{"hangs up at once", func(peer net.Conn) { _ = peer.Close() }, isNetwork, 0},
		{"reads and hangs up", once(""), isNetwork, 0},
		{"no HTTP", once("SSH-2.0-OpenSSH_9.9\r\n"), malformed("no status line of HTTP/1"), 0},
		{"no HTTP, and no end", forEver("SSH-2.0-", "OpenSSH", time.Second), malformed("no status line of HTTP/1"), 0},
		{"status line cut off", once("HTTP/1.1 20"), isNetwork, 0},
		{"header cut off", once(ok + "Content-Length: 5\r\nX-"), isNetwork, 0},
		{"two lengths", once(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"), malformed("two lengths"), 0},
		{"status line trickles", forEver("HTTP/1.1 200 ", "O", time.Second), isTimeout, timeout},
		{"header trickles", forEver(ok, "X: y\r\n", time.Second), isTimeout, timeout},
		{"header just in time", forEver("", ok+"Content-Length: 0\r\n\r\n", timeout-time.Millisecond), isDelivered, timeout - time.Millisecond},
		{"10 MB of header", once(ok + "X: " + strings.Repeat("y", 10<<20)), malformed("header of more than 64 KiB"), 0},
		{"many small headers", once(ok + strings.Repeat("X: y\r\n", 100_000)), malformed("header of more than 64 KiB"), 0},
		{"flood of 1xx", forEver("", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 100), 0), malformed("more than eight informational responses"), 0},
		{"trickle of 1xx", forEver("", "HTTP/1.1 100 Continue\r\n\r\n", time.Second), isTimeout, timeout},
		{"1xx before the answer", once("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok + "\r\n"), isDelivered, 0},
		{"switches protocols", once("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), malformed("it switches protocols"), 0},
		{"switches protocols and talks on", forEver("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "x", 0), malformed("it switches protocols"), 0},
		{"body of the promised length", once(ok + "Content-Length: 5\r\n\r\nhello"), isDelivered, 0},
		{"body shorter than promised", once(ok + "Content-Length: 50\r\n\r\nhello"), isDelivered, 0},
		{"body never comes", answer(ok + "Content-Length: 5\r\n\r\n"), isDelivered, maxDrainTime},
		{"body trickles", forEver(ok+"\r\n", "x", 100*time.Millisecond), isDelivered, maxDrainTime},
		{"body never ends", forEver(ok+"\r\n", strings.Repeat("x", 1000), 0), isDelivered, 0},
		{"chunks never end", forEver(ok+"Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", time.Millisecond), isDelivered, maxDrainTime},
		{"chunk is broken", once(ok + "Transfer-Encoding: chunked\r\n\r\nzzz\r\n"), isDelivered, 0},
		{"gzip bomb", once(ok + "Content-Encoding: gzip\r\n\r\n" + zip), isDelivered, 0},
		{"no gzip although it says so", once(ok + "Content-Encoding: gzip\r\n\r\nxxxx"), isDelivered, 0},
		{
			"an error with an endless body", forEver("HTTP/1.1 404 Not Found\r\n\r\n", "x", 0),
			outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 404"},
			0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// The bubble fails when a goroutine is left behind.
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, Options{Timeout: timeout, Dial: pipes(t, test.serve)})
				began := time.Now()
				got := client.Post(t.Context(), newTarget(t, hookURL), []byte(`{"a":1}`), "")
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				if !cmp.Equal(got, test.want) {
					t.Errorf("result %+v, want %+v", got, test.want)
				}
			})
		})
	}
}

// The timeout runs from the dial on, over all that comes before the headers.
func TestTheTimeoutIsOneForAllPhases(t *testing.T) {
	deaf := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	sluggish := func(peer net.Conn) {
		virtual.Sleep(2 * time.Second) // virtual; before it reads the request
		silent(peer)
	}
	for name, test := range map[string]struct {
		url   string
		serve func(net.Conn)
		dial  func(DialFunc) DialFunc
	}{
		"dial hangs":                  {hookURL, nil, func(DialFunc) DialFunc { return deaf }},
		"each phase takes its time":   {hookURL, sluggish, slowly},
		"TLS handshake hangs":         {tlsURL, silent, nil},
		"TLS handshake is never read": {tlsURL, func(net.Conn) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial := pipes(t, test.serve)
				if test.dial != nil {
					dial = test.dial(dial)
				}
				client := newClient(t, Options{Timeout: timeout, Dial: dial})
				began := time.Now()
				got := client.Post(t.Context(), newTarget(t, test.url), []byte("{}"), "")
				if took := time.Since(began); !cmp.Equal(got, isTimeout) || took != timeout {
					t.Errorf("result %+v after %s", got, took)
				}
			})
		})
	}
}

func slowly(dial DialFunc) DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		virtual.Sleep(2 * time.Second) // virtual
		return dial(ctx, network, address)
	}
}

// A TLS peer that stops reading can't be said goodbye to.
func TestGivingUpATLSConnectionDoesNotWait(t *testing.T) {
	trusted := newAuthority(t, "Trusted")
	config := &tls.Config{Certificates: []tls.Certificate{trusted.leaf(t, nil)}}
	synctest.Test(t, func(t *testing.T) {
		client := newClient(t, Options{Timeout: timeout, Roots: pool(trusted.cert), Dial: pipes(t, func(peer net.Conn) {
			conn := tls.Server(peer, config)
			if readRequest(bufio.NewReader(conn)) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
			}
		})})
		began := time.Now()
		got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), "")
		if took := time.Since(began); !cmp.Equal(got, isDelivered) || took != maxDrainTime {
			t.Errorf("result %+v after %s", got, took)
		}
	})
}

// Error texts of net/http and crypto/x509 quote what the receiver sent.
func TestReceiversAreNotQuoted(t *testing.T) {
	trusted := newAuthority(t, "Trusted")
	for name, serve := range map[string]func(net.Conn){
		"status line": once("CANARY 200 OK\r\n\r\n"),
		"status":      once("HTTP/1.1 CANARY\r\n\r\n"),
		"header":      once("HTTP/1.1 200 OK\r\nCANARY\r\n\r\n"),
		"length":      once("HTTP/1.1 200 OK\r\nContent-Length: CANARY\r\n\r\n"),
		"encoding":    once("HTTP/1.1 200 OK\r\nTransfer-Encoding: CANARY\r\n\r\n"),
		"reason":      once("HTTP/1.1 404 CANARY\r\nRetry-After: CANARY\r\nLocation: CANARY\r\n\r\nCANARY"),
	} {
		client := newClient(t, Options{Dial: pipes(t, serve)})
		got := client.Post(t.Context(), newTarget(t, hookURL), []byte("{}"), "")
		if got.Verdict == outcome.Delivered || strings.Contains(got.Detail+got.Cause, "CANARY") {
			t.Errorf("%s: %+v", name, got)
		}
	}

	server, _ := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{trusted.leaf(t, otherHost)}})
	client := newClient(t, Options{Dial: dialTo(server), Roots: pool(trusted.cert)})
	got := client.Post(t.Context(), newTarget(t, tlsURL), []byte("{}"), "")
	if got.Detail != detailWrongHost || strings.Contains(got.Cause, "www.example.com") {
		t.Errorf("certificate: %+v", got)
	}
}
