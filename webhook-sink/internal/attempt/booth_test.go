package attempt

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
)

// booth is an attempter on a network of its own: receivers are plain functions,
// found by host name, and time may be virtual.
type booth struct {
	*Attempter

	hosts map[string]receiver
	peers sync.WaitGroup

	mu       sync.Mutex
	dialed   []string
	observed []string // "destination outcome", in no order
	requests []seenRequest
}

// receiver answers one request with the text of a response; "" hangs up.
type receiver func() string

type seenRequest struct{ host, body, signature string }

func newBooth(tb testing.TB, hosts map[string]receiver, edit ...func(*Options)) *booth {
	tb.Helper()
	b := &booth{hosts: hosts}
	opts := Options{Timeout: 5 * time.Second, Idle: 8, Dial: b.dial, Observe: b, Logger: slog.New(slog.DiscardHandler), Breaker: breaker.Options{Threshold: 5, First: time.Second, Longest: time.Minute}}
	for _, change := range edit {
		change(&opts)
	}
	a, err := New(opts)
	if err != nil {
		tb.Fatal(err)
	}
	b.Attempter = a
	tb.Cleanup(func() {
		a.Close()
		b.peers.Wait()
	})
	return b
}

// Posted implements Observer.
func (b *booth) Posted(destination, outcome string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observed = append(b.observed, destination+" "+outcome)
}

// LeftOut implements Observer.
func (b *booth) LeftOut(destination string) { b.Posted(destination, "left out") }

// Down implements Observer.
func (b *booth) Down(destination string, more int) {
	b.Posted(destination, fmt.Sprintf("down %+d", more))
}

// nobody observes nothing.
type nobody struct{}

func (nobody) Posted(_, _ string) {}
func (nobody) LeftOut(string)     {}
func (nobody) Down(string, int)   {}

func (b *booth) dial(_ context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dialed = append(b.dialed, host)
	answer := b.hosts[host]
	if answer == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	ours, theirs := net.Pipe()
	b.peers.Go(func() { b.serve(host, theirs, answer) })
	return ours, nil
}

func (b *booth) serve(host string, conn net.Conn, answer receiver) {
	defer conn.Close()
	for from := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		text, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		b.mu.Lock()
		b.requests = append(b.requests, seenRequest{host, string(text), request.Header.Get("X-Signature")})
		b.mu.Unlock()
		response := answer()
		if _, err := io.WriteString(conn, response); err != nil || response == "" {
			return
		}
	}
}

// always is a receiver that answers with a status and header lines.
func always(code int, lines ...string) receiver {
	lines = append([]string{fmt.Sprintf("HTTP/1.1 %d x", code), "Content-Length: 0"}, lines...)
	return func() string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }
}

// after is a receiver that takes its time.
func after(wait time.Duration, answer receiver) receiver {
	return func() string {
		virtual.Sleep(wait) // virtual
		return answer()
	}
}

// receiving is a destination with an endpoint at each host.
func receiving(hosts ...string) *workspace.Destination {
	d := &workspace.Destination{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true}
	for _, host := range hosts {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: "http://" + host + "/hook"})
	}
	return d
}

// signed is the signature of purchaseBody.
func signed(secret string) string {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(purchaseBody))
	return hex.EncodeToString(mac.Sum(nil))
}
