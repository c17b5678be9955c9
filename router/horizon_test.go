package router

import (
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/seen"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// horizon is a router with a short one, and the calls of one user that it has to route.
type horizon struct {
	*bench
	*Router

	registry *prometheus.Registry
	dir      string
	want     []string // messageIds on the destination's topic
	copies   float64  // that this router was sent
}

// bucket is the width of one.
const bucket = time.Minute

func (h *horizon) begin(t *testing.T) (stop func()) {
	t.Helper()
	h.registry, h.dir, h.copies = prometheus.NewRegistry(), t.TempDir(), 0
	h.Router = h.router(t, func(cfg *Config, set *Settings) {
		cfg.Dedup, cfg.DataDir = seen.Buckets*bucket, h.dir
		set.Registerer, set.Kafka = h.registry, append(set.Kafka, h.Options()...)
	})
	return start(t, h.Router)
}

// sees sends a call, and checks whether it is taken for a copy.
func (h *horizon) sees(t *testing.T, number int, isCopy bool) {
	t.Helper()
	if isCopy {
		h.copies++
	} else {
		h.want = append(h.want, fmt.Sprintf("u-%d", number))
	}
	h.send(t, event("u", number, schemas.Headers{Source: "web"}))
	var got []string
	for _, rec := range h.ReadAll(t, schemas.DeliverTopic("crm"), len(h.want)) {
		headers, err := kafka.HeadersOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, headers.MessageID)
	}
	if diff := cmp.Diff(h.want, got); diff != "" {
		t.Fatalf("messageIds (-want +got):\n%s", diff)
	}
	counts(t, h.Router, map[string]float64{" duplicate": h.copies})
}

// remembers checks how many calls are, and that there is a file for each bucket of theirs.
func (h *horizon) remembers(t *testing.T, calls, buckets int) {
	t.Helper()
	synctest.Wait()
	if got := testkit.Series(t, h.registry, "anabranch_router_seen_calls"); got != float64(calls) {
		t.Errorf("%v calls are remembered, want %d", got, calls)
	}
	if files, err := filepath.Glob(filepath.Join(h.dir, "*", "*")); err != nil || len(files) != buckets {
		t.Errorf("%d files, %v, want %d: %v", len(files), err, buckets, files)
	}
}

// TestTheHorizonMovesOn in a router that runs: a copy within it is dropped and counted, one
// that is later than that and a bucket is routed under its messageId, and of what has
// expired neither files nor memory are left. A router that begins without files knows as
// much.
func TestTheHorizonMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &horizon{bench: newBench(t, testkit.Virtual(t))}
		stop := h.begin(t)
		const window = seen.Buckets * bucket
		h.sees(t, 0, false)
		for n := 1; n < seen.Buckets; n++ {
			virtual.Sleep(bucket)
			h.sees(t, n, false)
		}
		h.remembers(t, seen.Buckets, seen.Buckets)
		virtual.Sleep(bucket - time.Second)
		h.sees(t, 0, true)
		virtual.Sleep(window)
		h.sees(t, 0, true)   // the horizon is since the last time
		h.remembers(t, 3, 2) // and those of the first bucket of the horizon
		virtual.Sleep(window + bucket)
		h.sees(t, 0, false)
		virtual.Sleep(bucket)
		h.sees(t, 1, false)
		h.remembers(t, 2, 2)

		virtual.Sleep(window)
		h.sees(t, 2, false) // call 1 is in the last bucket of the horizon, and call 0 is not
		stop()
		stop = h.begin(t)
		h.sees(t, 1, true)
		h.sees(t, 2, true)
		h.sees(t, 0, false)
		stop()
	})
}
