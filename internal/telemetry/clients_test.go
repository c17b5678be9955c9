package telemetry_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/test/testkit"
)

// produce writes records with a client of a role, which it then closes.
func produce(t *testing.T, hook kgo.Opt, brokers []string, topic string, records int) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.DisableClientMetrics(), hook)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range records {
		if err := client.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: []byte("v")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
}

// sum adds up the series of a name that have a value of the label client.
func sum(t *testing.T, registry *prometheus.Registry, name, client string) (value float64, series int) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatalf("gather: %v", err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "client" && l.GetValue() == client {
					value += m.GetCounter().GetValue() + m.GetGauge().GetValue()
					series++
				}
			}
		}
	}
	return value, series
}

// counted waits until the series of a name and a client come to a sum, and returns how
// many there are: a write is counted a moment after whoever waited for it goes on.
func counted(t *testing.T, registry *prometheus.Registry, name, client string, want float64) (series int) {
	t.Helper()
	testkit.Until(t, func() bool {
		var got float64
		got, series = sum(t, registry, name, client)
		return got == want
	}, fmt.Sprintf("%s of %s to be %v", name, client, want))
	return series
}

// TestTotalsOutliveClients: a router takes a new session, a producer is replaced,
// and two of a role may live at the same time.
func TestTotalsOutliveClients(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.SeedTopics(1, "some", "deliver.crm", "deliver.a", "deliver.b", "deliver.c"))
	registry := prometheus.NewRegistry()
	clients := telemetry.NewClients(registry)
	for range 3 {
		produce(t, clients.Hook("ingest"), cluster.Addrs, "some", 2)
	}
	var side sync.WaitGroup
	for range 2 {
		side.Go(func() { produce(t, clients.Hook("ingest"), cluster.Addrs, "some", 1) })
	}
	side.Wait()
	produce(t, clients.Hook("router"), cluster.Addrs, "some", 1)
	for client, want := range map[string]float64{"ingest": 8, "router": 1, "nobody": 0} {
		counted(t, registry, "anabranch_kafka_produce_records_total", client, want)
	}
	if written, _ := sum(t, registry, "anabranch_kafka_write_bytes_total", "ingest"); written < 8*20 {
		t.Errorf("%v bytes were written for 8 records", written)
	}
	if connects, _ := sum(t, registry, "anabranch_kafka_connects_total", "router"); connects == 0 {
		t.Error("no connection is counted")
	}
}

func TestBuffersAreThoseOfOpenClients(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	hook := telemetry.NewClients(registry).Hook("ingest")
	const nobody = "127.0.0.1:1"
	open := make([]*kgo.Client, 2)
	for i := range open {
		var err error
		if open[i], err = kgo.NewClient(kgo.SeedBrokers(nobody), hook); err != nil {
			t.Fatal(err)
		}
		for range i + 1 {
			open[i].Produce(t.Context(), &kgo.Record{Topic: "some", Value: []byte("12345")}, nil)
		}
	}
	check := func(want float64) {
		t.Helper()
		if got, series := sum(t, registry, "anabranch_kafka_buffered_produce_records", "ingest"); got != want || series != 1 {
			t.Errorf("%v records in %d series, want %v in one", got, series, want)
		}
	}
	check(3)
	open[0].CloseAllowingRebalance()
	check(2)
	open[1].CloseAllowingRebalance()
	check(0)
}

// TestClientsTellNothingByTopic: there is a topic for each destination.
func TestClientsTellNothingByTopic(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t, kfake.SeedTopics(1, "some", "deliver.crm", "deliver.a", "deliver.b", "deliver.c"))
	registry := prometheus.NewRegistry()
	hook := telemetry.NewClients(registry).Hook("ingest")
	produce(t, hook, cluster.Addrs, "deliver.crm", 1)
	before := counted(t, registry, "anabranch_kafka_produce_batches_total", "ingest", 1)
	for _, topic := range []string{"deliver.a", "deliver.b", "deliver.c"} {
		produce(t, hook, cluster.Addrs, topic, 1)
	}
	if after := counted(t, registry, "anabranch_kafka_produce_batches_total", "ingest", 4); before != 1 || after != 1 {
		t.Errorf("the batches are in %d series, and in %d before, want one", after, before)
	}
}

// TestClientSeries: the plugin is of another module, and its next release may name
// them anew.
func TestClientSeries(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	telemetry.NewClients(registry).Hook("ingest")
	ch := make(chan *prometheus.Desc, 100)
	registry.Describe(ch)
	close(ch)
	var names []string
	for d := range ch {
		_, name, _ := strings.Cut(d.String(), `fqName: "anabranch_kafka_`)
		name, _, _ = strings.Cut(name, `"`)
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{
		"buffered_fetch_bytes", "buffered_fetch_records", "buffered_produce_bytes", "buffered_produce_records",
		"connect_errors_total", "connects_total", "disconnects_total", "fetch_batches_total", "fetch_records_total",
		"produce_batches_total", "produce_records_total", "read_bytes_total", "read_errors_total",
		"request_throttled_seconds", "write_bytes_total", "write_errors_total",
	}
	if !slices.Equal(names, want) {
		t.Errorf("series %v, want %v", names, want)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
}
