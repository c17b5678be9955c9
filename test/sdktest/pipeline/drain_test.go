package pipeline

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
)

// serving is a pipeline whose metrics are the pages, one after the other; the last
// one stays.
func serving(tb testing.TB, pages ...string) (*Pipeline, *atomic.Int64) {
	tb.Helper()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			tb.Errorf("asked for %s", r.URL.Path)
		}
		n := min(int(asked.Add(1)), len(pages))
		w.Write([]byte(pages[n-1]))
	}))
	tb.Cleanup(s.Close)
	return &Pipeline{client: s.Client(), process: &child.Process{Admin: strings.TrimPrefix(s.URL, "http://")}}, &asked
}

const (
	onItsWay = `anabranch_ingest_events_total{result="accepted"} 1
anabranch_router_events_total{destination="a-1",result="routed"} 1
`
	broken = `anabranch_ingest_events_total{result="accepted"} torn
`
)

func TestDrainWaitsForWhatWasAccepted(t *testing.T) {
	p, asked := serving(t, onItsWay, broken, onItsWay, page)
	if err := p.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("drained after %d looks, expected all four", n)
	}
}

func TestDrainSaysWhatItWaitedFor(t *testing.T) {
	p, asked := serving(t, onItsWay)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.Drain(ctx) }()
	for asked.Load() == 0 {
		select {
		case err := <-ended:
			t.Fatalf("ended at once: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "deliveries of what was accepted") {
		t.Errorf("error %v", err)
	}
}
