package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// journalled are the calls of the journal, by where they stand on raw-events. It fails for
// one that is there twice, and for a record that does not cover its calls.
func (b *bench) journalled(t *testing.T, prints *journal.Prints) map[string]format.Call {
	t.Helper()
	all := make(map[string]format.Call)
	spans, err := journal.Spans(t.Context(), b.client, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	err = journal.Read(t.Context(), b.Options(), spans, func(rec *kgo.Record, r *format.Record, err error) error {
		if err != nil {
			return err
		}
		if r.Stage != "router" || r.Topic != schemas.TopicRawEvents || r.Partition%3 != rec.Partition || r.KeyID != prints.KeyID() || r.Len() == 0 {
			t.Errorf("a record of %+v with %d calls on partition %d", r.Head, r.Len(), rec.Partition)
		}
		for c := range r.Calls() {
			at := fmt.Sprintf("%d/%d", r.Partition, c.Offset)
			if _, twice := all[at]; twice || c.Offset < r.From || c.Offset >= r.Next {
				t.Errorf("%s is there twice: %t; of %d to %d", at, twice, r.From, r.Next)
			}
			all[at] = c
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// isJournalled fails unless each call of raw-events is in the journal once, with its
// fingerprint, and results are as many as expected.
func (b *bench) isJournalled(t *testing.T, want map[format.CallResult]int) {
	t.Helper()
	prints, err := journal.FindPrints(t.Context(), b.topics)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, results := range want {
		n += results
	}
	all, got := b.journalled(t, prints), make(map[format.CallResult]int)
	for _, rec := range b.ReadAll(t, schemas.TopicRawEvents, n) {
		c, there := all[fmt.Sprintf("%d/%d", rec.Partition, rec.Offset)]
		if !there || c.Fingerprint != prints.Of(rec) {
			t.Errorf("call at %d/%d: in the journal %t, with its fingerprint %t", rec.Partition, rec.Offset, there, c.Fingerprint == prints.Of(rec))
		}
		got[c.Result]++
	}
	if diff := cmp.Diff(want, got); diff != "" || len(all) != n {
		t.Errorf("the journal has %d calls of %d, results (-want +got):\n%s", len(all), n, diff)
	}
}

// TestTheJournal says of each call what became of it, by whichever key of its map.
func TestTheJournal(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	decisions := func(result format.DecisionResult, why string) []format.Decision {
		return []format.Decision{{Destination: "crm", Result: result, Why: why}, {Destination: "lake", Result: result, Why: why}}
	}
	unread := event("u", 6, schemas.Headers{Source: "web"})
	unread.Headers = append(unread.Headers, kgo.RecordHeader{Key: "version", Value: []byte("999")})
	redriven := event("u", 1, schemas.Headers{Source: "web"})
	kafka.SetHeaders(redriven, &schemas.Headers{Source: "web", MessageID: "u-1", Type: schemas.TypeTrack, Origin: schemas.OriginReplay})
	var wants []format.Call
	for _, of := range []struct {
		rec  *kgo.Record
		want format.Call
	}{
		{event("u", 1, schemas.Headers{Source: "web"}), format.Call{Source: "web", Result: format.Routed, Decisions: decisions(format.Sent, "")}},
		{event("u", 1, schemas.Headers{Source: "web"}), format.Call{Source: "web", Result: format.Duplicate}},
		{redriven, format.Call{Source: "web", Result: format.Routed, Decisions: decisions(format.Sent, "")}},
		{event("u", 2, schemas.Headers{Source: "web", Integrations: []byte(`{"All":false}`)}), format.Call{Source: "web", Result: format.Routed, Decisions: decisions(format.Filtered, "All")}},
		{event("u", 3, schemas.Headers{Source: "web", Integrations: []byte(`{"Webhooks":false}`)}), format.Call{Source: "web", Result: format.Routed, Decisions: decisions(format.Filtered, "Webhooks")}},
		{event("u", 4, schemas.Headers{Source: "app"}), format.Call{Source: "app", Result: format.Unconnected}},
		{event("u", 5, schemas.Headers{}), format.Call{Result: format.CallDead, Reason: schemas.ReasonRecordInvalid}},
		{unread, format.Call{Source: "web", Result: format.CallDead, Reason: schemas.ReasonVersionUnknown}},
	} {
		b.send(t, of.rec)
		wants = append(wants, of.want)
	}
	stop := start(t, b.router(t))
	b.ReadAll(t, schemas.TopicDeadLetters, 2)
	stop()
	prints, err := journal.FindPrints(t.Context(), b.topics)
	if err != nil {
		t.Fatal(err)
	}
	all := b.journalled(t, prints)
	for i, rec := range b.ReadAll(t, schemas.TopicRawEvents, len(wants)) {
		want := wants[i]
		want.Offset, want.Fingerprint = rec.Offset, prints.Of(rec)
		if diff := cmp.Diff(want, all[fmt.Sprintf("%d/%d", rec.Partition, rec.Offset)], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("call %d (-want +got):\n%s", i, diff)
		}
	}
}

// TestARouterThatTellsNoCopies makes the fingerprints itself.
func TestARouterThatTellsNoCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	const n = 50
	for i := range n {
		b.send(t, event(fmt.Sprint("u", i%7), i, schemas.Headers{Source: "web"}))
	}
	stop := start(t, b.router(t, func(cfg *Config, _ *Settings) { cfg.Dedup = 0 }))
	b.ReadAll(t, schemas.DeliverTopic("crm"), n)
	stop()
	b.isJournalled(t, map[format.CallResult]int{format.Routed: n})
}

// TestALargeTransaction makes several records of the journal.
func TestALargeTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	const n = mostCalls*2 + 5
	events := make([]*kgo.Record, n)
	for i := range events {
		events[i] = event("u", i, schemas.Headers{Source: "app"})
	}
	b.send(t, events...)
	r := b.router(t, func(cfg *Config, _ *Settings) { cfg.MaxRecords = 100_000 })
	stop := start(t, r)
	unrouted := r.stage.metrics.events.WithLabelValues("", string(unconnected))
	testkit.Counted(t, unrouted, n)
	stop()
	b.isJournalled(t, map[format.CallResult]int{format.Unconnected: n})
}

// TestAJournalThatRefuses: what its broker takes for too large is counted, and holds
// nothing up.
func TestAJournalThatRefuses(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	b.Limit(t, schemas.TopicJournal, 60)
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}), event("u", 2, schemas.Headers{Source: "web"}))
	r := b.router(t)
	start(t, r)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 2)
	testkit.Counted(t, r.stage.entries.lost, 2)
	b.ReadAll(t, schemas.TopicJournal, 0)
}

// TestWithoutAJournal nothing of it is asked of the brokers.
func TestWithoutAJournal(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
	r := b.router(t, func(_ *Config, set *Settings) { set.Journal = false })
	stop := start(t, r)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
	stop()
	b.ReadAll(t, schemas.TopicJournal, 0)
	if _, there := testkit.Counters(t, r.stage.set.Registerer.(*prometheus.Registry))["anabranch_router_journal_lost_total"]; there {
		t.Error("a series of the journal is there")
	}
}
