package router

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

const calls = "shop.calls"

// exporting is a workspace with a destination of webhooks, and two that are topics.
func exporting() *workspace.Snapshot {
	export := func(id string, how *workspace.Export) workspace.Destination {
		return workspace.Destination{ID: id, Type: workspace.TypeTopic, Enabled: true, Sources: []string{"web"}, Export: how}
	}
	hooks := workspace.Destination{ID: "lake", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"}, Endpoints: []workspace.Endpoint{{URL: "https://example.com/"}}}
	return workspace.NewSnapshot(
		[]workspace.Source{{ID: "web", Enabled: true, WriteKeyHash: workspace.HashWriteKey("w")}},
		[]workspace.Destination{hooks, export("spare", nil), export("warehouse", &workspace.Export{Name: calls, Partitions: 5, Retention: time.Hour})},
	)
}

// TestAnExportHoldsEachEventOnce for who reads committed records alone, whatever was
// aborted, and it is made as the workspace says.
func TestAnExportHoldsEachEventOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
	b.live.Store(exporting())
	// What is written to the other topic in the same transaction fails it.
	b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: schemas.DeliverTopic("lake"), Err: kerr.InvalidRecord, Count: 3})
	const n = 40
	b.send(t, users(0, n)...)
	r := b.router(t)
	start(t, r)
	for _, topic := range []string{calls, schemas.ExportTopic("spare"), schemas.DeliverTopic("lake")} {
		once := make(map[string]bool)
		for _, rec := range b.ReadAll(t, topic, n) {
			once[string(rec.Key)+string(rec.Value)] = true
		}
		if len(once) != n {
			t.Errorf("%s holds %d events of %d", topic, len(once), n)
		}
	}
	if testutil.ToFloat64(r.stage.metrics.aborted) == 0 {
		t.Error("nothing was aborted")
	}
	ends, err := kadm.NewClient(b.client).ListEndOffsets(t.Context(), calls)
	if err != nil {
		t.Fatal(err)
	}
	var all int64
	for _, end := range ends.Offsets()[calls] {
		all += end.At
	}
	if len(ends[calls]) != 5 || all <= n+int64(len(ends[calls])) {
		t.Errorf("%d offsets on %d partitions: want 5, with what was aborted", all, len(ends[calls]))
	}
	counts(t, r, map[string]float64{"warehouse routed": n, "spare routed": n, "lake routed": n})
}

// TestTheJournalTellsWhereAnExportIs, since being there is to be delivered.
func TestTheJournalTellsWhereAnExportIs(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.live.Store(exporting())
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}), event("u", 2, schemas.Headers{Source: "web", Integrations: []byte(`{"Topic":false}`)}))
	stop := start(t, b.router(t))
	b.ReadAll(t, schemas.DeliverTopic("lake"), 2)
	b.ReadAll(t, calls, 1)
	stop()
	prints, err := journal.FindPrints(t.Context(), b.topics)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]format.Decision
	journalled := b.journalled(t, prints)
	for _, rec := range b.ReadAll(t, schemas.TopicRawEvents, 2) {
		got = append(got, journalled[fmt.Sprintf("%d/%d", rec.Partition, rec.Offset)].Decisions)
	}
	lake := format.Decision{Destination: "lake", Result: format.Sent}
	want := [][]format.Decision{
		{lake, {Destination: "spare", Result: format.Sent, Why: schemas.ExportTopic("spare")}, {Destination: "warehouse", Result: format.Sent, Why: calls}},
		{lake, {Destination: "spare", Result: format.Filtered, Why: "Topic"}, {Destination: "warehouse", Result: format.Filtered, Why: "Topic"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnExportThatTakesNothing costs its destination dead letters, and nobody else anything,
// and what it cannot hold for its size goes there too.
func TestAnExportThatTakesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
	b.live.Store(exporting())
	if err := b.topics.For(exporting().Exports()).Ensure(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	b.Limit(t, calls, 1000)
	large := event("u", 1, schemas.Headers{Source: "web"})
	large.Value = fmt.Appendf(nil, `{"type":"track","pad":%q}`, incompressible(1500))
	b.send(t, large)
	start(t, b.router(t))
	b.ReadAll(t, schemas.ExportTopic("spare"), 1)
	letter := b.ReadAll(t, schemas.TopicDeadLetters, 1)[0]
	if h, err := kafka.HeadersOf(letter); err != nil || h.Destination != "warehouse" || h.Reason != schemas.ReasonRecordTooLarge {
		t.Errorf("dead letter: %+v, %v", h, err)
	}
	b.ReadAll(t, calls, 0)
}
