package runner

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const (
	group  = "anabranch-copier"
	copied = group + "-copy"
)

var (
	source = schemas.TopicRawEvents
	crm    = schemas.DeliverTopic("crm")
	lake   = schemas.DeliverTopic("lake")
)

var topicConfig = policy.Config{Partitions: 3, DeliverPartitions: 2, Replication: -1, RawRetention: time.Hour}

// bench is a broker with a topic to read and two to write.
type bench struct {
	*testkit.Cluster
	client *kgo.Client
	topics *topics.Admin
}

func newBench(tb testing.TB, c *testkit.Cluster) *bench {
	tb.Helper()
	b := &bench{Cluster: c, client: c.Client(tb)}
	b.topics = topics.New(b.client, topicConfig)
	if err := b.topics.Ensure(tb.Context(), source, crm, lake); err != nil {
		tb.Fatal(err)
	}
	return b
}

// copier is a stage without state: what it reads it writes to each output.
type copier struct {
	outputs       []string
	done, aborted atomic.Int64
	results       int64
}

func (c *copier) Prepare(context.Context, kgo.Fetches, time.Duration) (int, error) {
	return len(c.outputs), nil
}

func (c *copier) Process(ctx context.Context, t *Transaction, rec *kgo.Record) int {
	for _, topic := range c.outputs {
		if t.Refused(topic, rec) {
			continue
		}
		t.Write(ctx, rec, &kgo.Record{Topic: topic, Key: rec.Key, Value: rec.Value})
	}
	c.results++
	return len(c.outputs)
}

func (c *copier) Ended(_ *Transaction, outcome Outcome) {
	switch outcome {
	case Committed:
		c.done.Add(c.results)
	case Aborted:
		c.aborted.Add(1)
	case Unknown:
	}
	c.results = 0
}

// running is a runner with its stage and what it logs.
type running struct {
	*Runner
	*copier

	logs *testkit.Logs
}

// settings are those of a runner on the bench.
func (b *bench) settings(tb testing.TB) Settings {
	tb.Helper()
	options, err := kafka.Config{Brokers: b.Addrs}.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	desc := func(name string) *prometheus.Desc { return prometheus.NewDesc(name, "A gauge.", nil, nil) }
	return Settings{
		Name: "copier", Registerer: registry, MaxRecords: 500,
		Backlog: Gauges{Lag: desc("lag"), Oldest: desc("oldest"), Stalled: desc("stalled")},
		Losses:  groups.NewLosses("copier", registry, slog.New(slog.DiscardHandler), source),
		Input:   Input{Kafka: options, Topics: b.topics, Sources: []string{source}, Group: group, Copy: copied},
		Session: Session{TransactionalID: "anabranch-copier-a", TransactionTimeout: 10 * time.Second},
		Outputs: schemas.DeliverTopic(""), Start: Start{Variable: "COPIER_START"},
	}
}

// runner returns one that is not running yet, with changed settings.
func (b *bench) runner(tb testing.TB, changes ...func(*Settings)) *running {
	tb.Helper()
	c := &copier{outputs: []string{crm, lake}}
	r := b.running(tb, c, changes...)
	r.copier = c
	return r
}

func (b *bench) running(tb testing.TB, stage Stage, changes ...func(*Settings)) *running {
	tb.Helper()
	set, logs := b.settings(tb), new(testkit.Logs)
	set.Log = logs.Logger()
	for _, change := range changes {
		change(&set)
	}
	return &running{Runner: New(stage, set), logs: logs}
}

// start runs the runner; the returned function stops it in the orderly way.
func start(tb testing.TB, r *running) (stop func()) {
	tb.Helper()
	return testkit.Start(tb, r.Run)
}

// virtually is a bench whose clock stands until all wait, and a runner on it.
func virtually(t *testing.T, changes ...func(*Settings)) (*bench, *running) {
	t.Helper()
	b := newBench(t, testkit.Virtual(t, kfake.SleepOutOfOrder()))
	onPipes := func(set *Settings) { set.Kafka = append(set.Kafka, b.Options()...) }
	return b, b.runner(t, append(changes, onPipes)...)
}

// send produces records to the source.
func (b *bench) send(tb testing.TB, records ...*kgo.Record) {
	tb.Helper()
	if err := b.client.ProduceSync(tb.Context(), records...).FirstErr(); err != nil {
		tb.Fatal(err)
	}
}

func event(user string, n int) *kgo.Record {
	return &kgo.Record{Topic: source, Key: []byte(user), Value: fmt.Appendf(nil, `{"event":"e%d","userId":%q}`, n, user)}
}

// users are events of so many users, which are on all partitions.
func users(n int) []*kgo.Record {
	events := make([]*kgo.Record, n)
	for i := range events {
		events[i] = event(fmt.Sprintf("u%d", i), i)
	}
	return events
}

// some produces n events of many users.
func (b *bench) some(t *testing.T, name string, n int) {
	t.Helper()
	for i := range n {
		b.send(t, event(fmt.Sprintf("%s-%d", name, i), i))
	}
}

// copiedOnce waits for n different events on an output and for nothing more of what is
// there.
func (b *bench) copiedOnce(t *testing.T, n int) {
	t.Helper()
	seen := map[string]int{}
	for _, rec := range b.ReadAll(t, crm, n) {
		seen[string(rec.Key)]++
	}
	if len(seen) != n {
		t.Errorf("%d events of %d: some are doubled and some are lost", len(seen), n)
	}
}

// passed waits until a runner has committed all there is.
func (b *bench) passed(t *testing.T) {
	t.Helper()
	testkit.Until(t, func() bool {
		lags, err := groups.Lags(t.Context(), b.topics.Client, group, source)
		behind := int64(0)
		for _, lag := range lags[source] {
			behind += lag.Offsets()
		}
		return err == nil && behind == 0
	}, "everything to be processed")
}
