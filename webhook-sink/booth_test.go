package webhooksink

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
)

// booth is an attempter on a network of its own: receivers are plain functions,
// found by host name, and time may be virtual.
type booth struct {
	*attempter

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

func newBooth(tb testing.TB, hosts map[string]receiver, edit ...func(*attemptOptions)) *booth {
	tb.Helper()
	b := &booth{hosts: hosts}
	opts := attemptOptions{timeout: 5 * time.Second, idle: 8, dial: b.dial, observe: b.observe, logger: slog.New(slog.DiscardHandler)}
	for _, change := range edit {
		change(&opts)
	}
	a, err := newAttempter(opts)
	if err != nil {
		tb.Fatal(err)
	}
	b.attempter = a
	tb.Cleanup(func() {
		a.close()
		b.peers.Wait()
	})
	return b
}

func (b *booth) observe(destination, outcome string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.observed = append(b.observed, destination+" "+outcome)
}

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

// answers is a receiver that answers with a status and header lines.
func answers(code int, lines ...string) receiver {
	lines = append([]string{fmt.Sprintf("HTTP/1.1 %d x", code), "Content-Length: 0"}, lines...)
	return func() string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }
}

// after is a receiver that takes its time.
func after(wait time.Duration, answer receiver) receiver {
	return func() string {
		time.Sleep(wait) // virtual
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
