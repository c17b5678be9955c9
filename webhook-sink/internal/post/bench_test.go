package post

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// BenchmarkPost shows the processor time of this process alone, as cpu-µs/op: the
// receiver is a process of its own. Beside our client is net/http, set up as well
// as it can be for the same work, as the floor to compare with; the machine's mood
// is in both.
func BenchmarkPost(b *testing.B) {
	for _, scheme := range []string{"http", "https"} {
		address, roots := receiver(b, scheme)
		url := scheme + "://" + hookHost + "/hook"
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		client := newClient(b, Options{Idle: 64, Dial: dial, Roots: roots, Timeout: 5 * time.Second})
		target, body := newTarget(b, url), bytes.Repeat([]byte("x"), 1000)
		ours := func(ctx context.Context) bool {
			return client.Post(ctx, target, body, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79").Verdict == outcome.Delivered
		}
		floor := netHTTP(b, dial, tlsConfig(roots), url, body)
		for name, post := range map[string]func(context.Context) bool{"ours": ours, "net-http": floor} {
			b.Run(scheme+"/"+name, func(b *testing.B) { parallel(b, post) })
		}
	}
}

// parallel posts from 32 goroutines.
func parallel(b *testing.B, post func(context.Context) bool) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context()) // as a session's: one for all requests
	defer cancel()
	b.ReportAllocs()
	b.SetParallelism(16)
	before := testkit.CPU(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !post(ctx) {
				b.Error("not delivered")
				return
			}
		}
	})
	b.ReportMetric(float64(testkit.CPU(b)-before)/float64(b.N)/1e3, "cpu-µs/op")
}

// netHTTP is the client that this package had before it had one of its own.
func netHTTP(tb testing.TB, dial DialFunc, policy *tls.Config, url string, body []byte) func(context.Context) bool {
	tb.Helper()
	transport := &http.Transport{
		DialContext:            dial,
		TLSClientConfig:        policy,
		DisableCompression:     true,
		MaxIdleConns:           2048,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	tb.Cleanup(transport.CloseIdleConnections)
	header := http.Header{"User-Agent": {schemas.UserAgent}, "Content-Type": {"application/json"}, "X-Signature": {"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"}}
	return func(ctx context.Context) bool {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return false
		}
		request.Header = header
		response, err := transport.RoundTrip(request)
		if err != nil {
			return false
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err == nil && response.StatusCode == http.StatusOK
	}
}
