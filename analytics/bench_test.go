//go:build go1.26

package analytics_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/analytics"
)

// drain is a transport that takes everything.
type drain struct{}

func (drain) RoundTrip(request *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, request.Body)
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"success":true}`)), Request: request}, nil
}

// order is a message of 1 KB.
func order() *analytics.Track {
	return &analytics.Track{UserId: "019mr8mf4r", Event: "Order Completed", Properties: map[string]any{
		"orderId": "o-1234", "total": 149.95, "revenue": 129.5, "currency": "EUR", "coupon": nil, "gift": false,
		"products": []any{
			map[string]any{"productId": "p-1", "name": "Kettle", "price": 49.95, "quantity": 1},
			map[string]any{"productId": "p-2", "name": "Tea, loose", "price": 25, "quantity": 4},
		},
		"note": strings.Repeat("Lorem ipsum dolor sit amet. ", 20),
	}}
}

func drained(tb testing.TB) *analytics.Client {
	tb.Helper()
	client, err := analytics.NewClient("wk", analytics.WithHTTPClient(&http.Client{Transport: drain{}}), analytics.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// A call makes the message, its id and its record in the queue; the rest is the
// twentieth part of a request. The race detector doubles that: under it pools
// forget what they were given.
func TestAllocationsOfACall(t *testing.T) {
	client, message := drained(t), order()
	got := testing.AllocsPerRun(2000, func() {
		if err := client.Track(message); err != nil {
			t.Fatal(err)
		}
	})
	if got > 10 {
		t.Errorf("%v allocations a call, want at most 10", got)
	}
}

// BenchmarkTrack is a call of 1 KB, with its share of the sending but for the
// network. internal/compare has the whole path, beside another client.
func BenchmarkTrack(b *testing.B) {
	client, message := drained(b), order()
	b.ReportAllocs()
	for b.Loop() {
		if err := client.Track(message); err != nil {
			b.Fatal(err)
		}
	}
}
