package attempt

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/body"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// kilobyte is an event of about the usual size.
var kilobyte = []byte(strings.Replace(purchase, `"n":1`, `"items":["`+strings.Repeat(`shoe","`, 100)+`"],"total":39.95`, 1))

func BenchmarkSignAndBuild(b *testing.B) {
	var bodies body.Builder
	signer := post.NewSigner("s3cret")
	b.SetBytes(int64(len(kilobyte)))
	b.ReportAllocs()
	for b.Loop() {
		text, err := bodies.Append(make([]byte, 0, len(kilobyte)+body.Overhead), kilobyte)
		if err != nil {
			b.Fatal(err)
		}
		if len(signer.Sign(text)) == 0 {
			b.Fatal("no signature")
		}
	}
}

// BenchmarkAttempt has the receiver in the same process: about half of what it
// shows is net/http's server.
func BenchmarkAttempt(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer server.Close()
	a, err := New(Options{
		Timeout: 5 * time.Second,
		Idle:    64,
		Guard:   guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}),
		Logger:  slog.New(slog.DiscardHandler),
		Observe: nobody{},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	dest := receiving(server.Listener.Addr().String())
	dest.SharedSecret = "s3cret"
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if got := a.Attempt(b.Context(), dest, nil, kilobyte, false); got.Verdict != outcome.Delivered {
				b.Errorf("outcome %+v", got)
			}
		}
	})
}
