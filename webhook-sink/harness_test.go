package webhooksink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// plant is a broker, a workspace and the sinks that a test runs on them.
type plant struct {
	t       testing.TB
	cluster *testkit.Cluster
	client  *kgo.Client // the test's own, which produces what the router would
	topics  *topics.Admin
	live    *workspace.Live

	// commitEvery is slower than the product's. A commit that meets a rebalance
	// waits for it inside the client, on a mutex, and a mutex holds up the virtual
	// clock that the rebalance waits for; once a second the two do not meet here.
	commitEvery time.Duration
}

func newPlant(tb testing.TB, cluster *testkit.Cluster, partitions int, destinations ...workspace.Destination) *plant {
	tb.Helper()
	client := cluster.Client(tb, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	p := &plant{
		t:       tb,
		cluster: cluster,
		client:  client,
		topics:  topics.New(client, policy.Config{Partitions: partitions, DeliverPartitions: partitions, Replication: 1, RawRetention: time.Hour, Embedded: true}),
		live:    workspace.NewLive(snapshot(destinations...)),

		commitEvery: time.Second,
	}
	p.ensure(schemas.TopicRawEvents, schemas.TopicJournal)
	for _, d := range destinations {
		p.ensure(schemas.DeliverTopic(d.ID))
	}
	return p
}

func (p *plant) ensure(topics ...string) {
	p.t.Helper()
	if err := p.topics.Ensure(p.t.Context(), topics...); err != nil {
		p.t.Fatalf("create topics %v: %v", topics, err)
	}
}

func snapshot(destinations ...workspace.Destination) *workspace.Snapshot {
	return workspace.NewSnapshot(nil, destinations)
}

func destination(id string) workspace.Destination {
	return workspace.Destination{
		ID: id, Type: workspace.TypeWebhooks, Name: id, Enabled: true,
		Endpoints: []workspace.Endpoint{{URL: "http://" + id + ".test/"}},
	}
}

// produce writes one event per message id to a destination's topic, partition 0
// unless the key says otherwise.
func (p *plant) produce(id, key string, messageIDs ...string) {
	p.t.Helper()
	var records []*kgo.Record
	for _, messageID := range messageIDs {
		records = append(records, event(id, key, messageID, 0))
	}
	p.write(records...)
}

func (p *plant) write(records ...*kgo.Record) {
	p.t.Helper()
	if err := p.client.ProduceSync(p.t.Context(), records...).FirstErr(); err != nil {
		p.t.Fatalf("produce: %v", err)
	}
}

// event is a record as the router writes it.
func event(id, key, messageID string, partition int32) *kgo.Record {
	r := &kgo.Record{
		Topic: schemas.DeliverTopic(id), Partition: partition, Key: []byte(key),
		Value: fmt.Appendf(nil, `{"type":"track","messageId":%q,"userId":%q,"event":"Tested","timestamp":"2026-01-01T00:00:00.000Z"}`, messageID, key),
	}
	kafka.SetHeaders(r, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: messageID, Origin: schemas.OriginAPI})
	return r
}

// running is one sink that runs.
type running struct {
	t        testing.TB
	sink     *Sink
	stop     context.CancelFunc
	result   chan error
	wire     *wire
	registry *prometheus.Registry
}

// attemptFunc stands for a receiver. messageID is the key by which tests know
// events.
type attemptFunc func(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome

// option changes a sink before it runs.
type option func(*Config, *Settings)

// start runs a sink whose attempts are made by receiver; nil leaves the real one.
func (p *plant) start(receiver attemptFunc, options ...option) *running {
	p.t.Helper()
	cfg := config.Default()
	cable := newWire(p.client)
	registry := prometheus.NewRegistry()
	set := Settings{
		Logger:     slog.New(slog.NewTextHandler(p.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		Registerer: registry,
		Workspace:  p.live,
		Kafka:      append(p.cluster.Options(), kgo.Dialer(cable.dial)),
		Topics:     p.topics,
		Journal:    true,
	}
	for _, o := range options {
		o(&cfg, &set)
	}
	sink, err := New(cfg, set)
	if err != nil {
		p.t.Fatalf("New: %v", err)
	}
	sink.commitEvery = p.commitEvery
	if receiver != nil {
		sink.attempt = func(ctx context.Context, dest *workspace.Destination, _ []uint64, event []byte, _ bool) outcome.Outcome {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer cable.onCut(cancel)()
			return receiver(ctx, dest, messageIDOf(p.t, event))
		}
	}
	ctx, stop := context.WithCancel(p.t.Context())
	r := &running{t: p.t, sink: sink, stop: stop, result: make(chan error, 1), wire: cable, registry: registry}
	go func() {
		r.result <- sink.Run(ctx)
		close(r.result)
	}()
	p.t.Cleanup(func() { // of a test that failed half way
		cable.sever()
		stop()
		<-r.result
	})
	return r
}

// ready waits until the sink has joined its group.
func (r *running) ready() *running {
	r.t.Helper()
	testkit.Until(r.t, func() bool { return r.sink.Ready() == nil }, "the sink to join its group")
	return r
}

// end stops the sink in order.
func (r *running) end() {
	r.t.Helper()
	r.stop()
	if err := <-r.result; err != nil {
		r.t.Errorf("Run: %v, expected nil after an orderly stop", err)
	}
}

// kill ends the sink as kill -9 does: from one moment to the next it reaches
// neither the broker nor a receiver.
func (r *running) kill() {
	r.t.Helper()
	r.wire.sever()
	r.end()
}

// metric returns the value of one series, 0 when there is none.
func (r *running) metric(name string, labels ...string) float64 {
	r.t.Helper()
	return testkit.Series(r.t, r.registry, "anabranch_webhook_sink_"+name, labels...)
}

func messageIDOf(tb testing.TB, event []byte) string {
	tb.Helper()
	var e struct {
		MessageID string `json:"messageId"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		tb.Errorf("decode event %q: %v", event, err)
	}
	return e.MessageID
}

func headersOf(tb testing.TB, r *kgo.Record) schemas.Headers {
	tb.Helper()
	h, err := kafka.HeadersOf(r)
	if err != nil {
		tb.Fatal(err)
	}
	return h
}

// deadLetters returns the headers of all n dead letters.
func (p *plant) deadLetters(n int) []schemas.Headers {
	p.t.Helper()
	var all []schemas.Headers
	for _, r := range p.cluster.ReadAll(p.t, schemas.TopicDeadLetters, n) {
		all = append(all, headersOf(p.t, r))
	}
	return all
}

// ids makes n message ids.
func ids(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%04d", prefix, i)
	}
	return all
}
