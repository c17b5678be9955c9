package personas

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// again is a copy of a call, as a client that was not answered sends it.
func (b *bench) again(rec *kgo.Record) *kgo.Record {
	b.calls++
	return &kgo.Record{Topic: rec.Topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
}

// redriven is a call that an operator has taken from dead-letters.
func (b *bench) redriven(tb testing.TB, rec *kgo.Record) *kgo.Record {
	tb.Helper()
	h, err := kafka.HeadersOf(rec)
	if err != nil {
		tb.Fatal(err)
	}
	h.Origin = schemas.OriginReplay
	out := b.again(rec)
	out.Headers = nil
	kafka.SetHeaders(out, &h)
	return out
}

// TestCopiesCountOnce, live, behind a restart with and without files, and where a new
// definition looks back.
func TestCopiesCountOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{storeMemory, storePebble} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, testkit.Virtual(t), engine.Definitions{Traits: []engine.Trait{counted()}})
				run := func() (*running, func()) {
					r := b.stage(t, b.virtually, func(cfg *Config, _ *Settings) { cfg.Store, cfg.DataDir = kind, dir })
					return r, start(t, r)
				}
				first := b.track("u", "Order", time.Now())
				b.send(t, first, b.again(first)) // before there is a stage
				r, stop := run()
				virtual.Sleep(10 * time.Second)
				b.send(t, b.again(first), b.redriven(t, first))
				second := b.track("u", "Order", time.Now())
				b.send(t, second, b.again(second))
				virtual.Sleep(5 * time.Second)
				if n := testutil.ToFloat64(r.processor.metrics.events.WithLabelValues(duplicate)); n != 3 {
					t.Errorf("%g copies were counted as such, want 3", n)
				}
				stop()
				_, stop = run()
				virtual.Sleep(5 * time.Second)
				b.send(t, b.again(second), b.again(first))
				virtual.Sleep(5 * time.Second)
				want := map[string][]string{"u": {"1", "2"}}
				if diff := cmp.Diff(want, values(b.heard(t, 2), "orders")); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}

				buyers := audience("buyers", "Order", 3, 0)
				b.definitions.Store(&engine.Definitions{Audiences: []engine.Audience{buyers}, Traits: []engine.Trait{counted()}})
				virtual.Sleep(20 * time.Second)
				b.heard(t, 2)
				b.send(t, b.again(first), b.track("u", "Order", time.Now()))
				virtual.Sleep(5 * time.Second)
				if diff := cmp.Diff(map[string][]string{"u": {"true"}}, values(b.heard(t, 4), "buyers")); diff != "" {
					t.Errorf("a new definition (-want +got):\n%s", diff)
				}
				stop()
			})
		})
	}
}
