package router

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestCopies: the first of the same messageId, source and user is routed, whatever a later
// one holds and wherever the transaction ends; others are other calls. What an operator
// sends again is sent again.
func TestCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	web := schemas.Headers{Source: "web"}
	first, otherUser, otherSource := event("u", 1, web), event("v", 1, web), event("u", 1, schemas.Headers{Source: "app"})
	again := event("u", 1, schemas.Headers{Source: "web", Integrations: []byte(`{"All":false}`)})
	h, err := kafka.HeadersOf(otherUser)
	if err != nil {
		t.Fatal(err)
	}
	h.MessageID = "u-1"
	kafka.SetHeaders(otherUser, &h)
	redriven := event("u", 1, web)
	h.Origin = schemas.OriginReplay
	kafka.SetHeaders(redriven, &h)
	unnamed := event("u", 1, web)
	h.Origin, h.MessageID = schemas.OriginAPI, ""
	kafka.SetHeaders(unnamed, &h)

	b.send(t, first, again, otherUser, otherSource, redriven, unnamed, unnamed)
	r := b.router(t)
	stop := start(t, r)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 5)
	counts(t, r, map[string]float64{" duplicate": 1, " unconnected": 1, "crm routed": 5, "crm filtered": 0})
	stop()

	b.send(t, again, redriven)
	r = b.router(t)
	start(t, r)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 6)
	counts(t, r, map[string]float64{" duplicate": 1, "crm routed": 1})
}

// TestEveryCallIsRoutedWithoutAHorizon, and nothing is kept.
func TestEveryCallIsRoutedWithoutAHorizon(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}), event("u", 1, schemas.Headers{Source: "web"}))
	r := b.router(t, func(cfg *Config, _ *Settings) { cfg.Dedup = 0 })
	start(t, r)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 2)
	b.ReadAll(t, schemas.TopicSeen, 0)
}

// crash is a router on a cable, with a directory.
type crash struct {
	*Router

	cable *testkit.Cable
	dir   string
	stop  func()
}

func (b *bench) crash(t *testing.T, id, static, dir string) crash {
	t.Helper()
	c := crash{cable: new(testkit.Cable), dir: dir}
	c.Router = b.router(t, func(cfg *Config, set *Settings) {
		cfg.MaxRecords, cfg.DataDir = 50, dir
		set.TransactionalID, set.InstanceID, set.Returns = "anabranch-router-"+id, static, static != ""
		set.Logger, set.Kafka = slog.New(slog.DiscardHandler), append(set.Kafka, kgo.Dialer(c.cable.Dial))
	})
	c.stop = start(t, c.Router)
	return c
}

// kill leaves the directory as a kill would at any moment: files that are being written.
func (c crash) kill(t *testing.T) (left string) {
	t.Helper()
	c.cable.Cut()
	left = t.TempDir()
	// A file that is removed meanwhile ends the copy, and the rest is missing.
	_ = os.CopyFS(left, os.DirFS(c.dir))
	return left
}

// TestARouterThatLosesEverything: a quarter of all calls are sent again, while routers are
// killed, join, leave, and come back with their files, with older ones, or with none. Each
// call is routed once.
func TestARouterThatLosesEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	random := rand.New(rand.NewPCG(1, 2)) // the same in each run
	const rounds, burst = 12, 400
	var sent []*kgo.Record
	var stopped sync.WaitGroup
	defer stopped.Wait()
	dir, older := t.TempDir(), t.TempDir()
	for round := range rounds {
		first := b.crash(t, "first", "first", dir)
		guest, leave := first, func() {}
		if round%3 == 0 {
			guest = b.crash(t, "guest", "", t.TempDir())
			leave = guest.stop
		}
		for range burst {
			rec := event(fmt.Sprintf("u%d", random.IntN(37)), len(sent), schemas.Headers{Source: "web"})
			if len(sent) > 0 && random.IntN(4) == 0 {
				rec = sent[random.IntN(len(sent))]
				if random.IntN(2) == 0 {
					rec = sent[len(sent)-1]
				}
				rec = &kgo.Record{Topic: rec.Topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers}
			} else {
				sent = append(sent, rec)
			}
			b.client.Produce(t.Context(), rec, nil)
		}
		some := func() bool { return first.routed()+guest.routed() > 0 }
		testkit.Until(t, some, "some events to be routed")
		left := first.kill(t)
		leave()
		stopped.Go(first.stop)
		switch random.IntN(4) {
		case 0:
			dir = t.TempDir()
		case 1:
			dir, older = older, left
		default:
			dir = left
		}
	}
	if err := b.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := b.crash(t, "first", "first", dir)
	once := make(map[string]int)
	for _, rec := range b.ReadAll(t, schemas.DeliverTopic("crm"), len(sent)) {
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		once[h.MessageID]++
	}
	for _, rec := range sent {
		if h, _ := kafka.HeadersOf(rec); once[h.MessageID] != 1 {
			t.Errorf("%s was routed %d times", h.MessageID, once[h.MessageID])
		}
	}
	testkit.Until(t, func() bool { return last.Ready() == nil }, "the last router to be ready")
	last.stop()
	b.ReadAll(t, schemas.DeliverTopic("crm"), len(sent))
	b.isJournalled(t, map[format.CallResult]int{format.Routed: len(sent), format.Duplicate: rounds*burst - len(sent)})
}

func (c crash) routed() float64 {
	return testutil.ToFloat64(c.stage.metrics.events.WithLabelValues("crm", string(routed)))
}

// TestAStopLeavesNothingToRead: the next start finds all in its files.
func TestAStopLeavesNothingToRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	dir := t.TempDir()
	var logs testkit.Logs
	change := func(cfg *Config, set *Settings) { cfg.DataDir, set.Logger = dir, logs.Logger() }
	for round := range 3 {
		b.send(t, event("u", round, schemas.Headers{Source: "web"}), event("u", 0, schemas.Headers{Source: "web"}))
		stop := start(t, b.router(t, change))
		b.ReadAll(t, schemas.DeliverTopic("crm"), round+1)
		stop()
	}
	r := b.router(t, change)
	start(t, r)
	testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to be ready")
	if n := logs.Count("from_calls=0"); n != 4 {
		t.Errorf("%d of 4 starts found all in their files, in\n%s", n, &logs)
	}
}
