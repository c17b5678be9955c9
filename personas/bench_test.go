package personas

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
	"github.com/anabranch/anabranch/test/testkit"
)

const partitions = 3

// bench is a broker with the stage's topics, and definitions in force.
type bench struct {
	*testkit.Cluster
	topics      *topics.Admin
	client      *kgo.Client
	definitions atomic.Pointer[engine.Definitions]
	calls       int
}

func newBench(tb testing.TB, c *testkit.Cluster, d engine.Definitions) *bench {
	tb.Helper()
	b := &bench{Cluster: c, client: c.Client(tb)}
	b.topics = topics.New(b.client, policy.Config{Partitions: partitions, Replication: -1, RawRetention: time.Hour})
	b.definitions.Store(&d)
	if err := b.topics.Ensure(tb.Context(), schemas.TopicRawEvents, schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog); err != nil {
		tb.Fatal(err)
	}
	return b
}

// running is a stage with what it logs.
type running struct {
	*Personas

	logs     *testkit.Logs
	registry *prometheus.Registry
}

// stage returns one that is not running yet, with changed settings.
func (b *bench) stage(tb testing.TB, changes ...func(*Config, *Settings)) *running {
	tb.Helper()
	options, err := kafka.Config{Brokers: b.Addrs}.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	r := &running{logs: new(testkit.Logs), registry: prometheus.NewRegistry()}
	cfg := Config{Store: storeMemory, StoreMemory: 64 << 20, ProfileMemory: 16 << 10, MaxRecords: 5000, Dedup: 24 * time.Hour, TransactionTimeout: 10 * time.Second}
	set := Settings{
		Logger: r.logs.Logger(), Registerer: r.registry, Definitions: b.definitions.Load,
		Kafka: options, Topics: b.topics, TransactionalID: "anabranch-personas-a",
	}
	for _, change := range changes {
		change(&cfg, &set)
	}
	if r.Personas, err = New(cfg, set); err != nil {
		tb.Fatal(err)
	}
	return r
}

// virtually has a stage speak to the brokers of a virtual cluster.
func (b *bench) virtually(_ *Config, set *Settings) {
	set.Kafka = slices.Concat(set.Kafka, b.Options())
}

func start(tb testing.TB, r *running) (stop func()) {
	tb.Helper()
	return testkit.Start(tb, r.Run)
}

// track is a track call, as ingest writes one.
func (b *bench) track(user, event string, at time.Time) *kgo.Record {
	return b.call(schemas.TypeTrack, user, at, fmt.Sprintf(`"event":%q,"properties":{}`, event))
}

func (b *bench) call(kind schemas.Type, user string, at time.Time, members string) *kgo.Record {
	b.calls++
	id := fmt.Sprintf("m-%d", b.calls)
	value := fmt.Sprintf(`{"type":%q,"messageId":%q,"userId":%q,%s,"timestamp":%q,"context":{}}`, kind, id, user, members, at.UTC().Format(schemas.TimeLayout))
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: []byte(value)}
	kafka.SetHeaders(rec, &schemas.Headers{Source: "website", Type: kind, MessageID: id, Origin: schemas.OriginAPI})
	return rec
}

func (b *bench) send(tb testing.TB, records ...*kgo.Record) {
	tb.Helper()
	if err := b.client.ProduceSync(tb.Context(), records...).FirstErr(); err != nil {
		tb.Fatal(err)
	}
}

// told is a change as somebody hears of it.
type told struct {
	User, Key, Value, Cause string
	Version                 int
	At                      time.Time
}

// heard waits until so many changes were told, and returns them by partition and offset.
// It checks that each is a call like any other and was told once.
func (b *bench) heard(tb testing.TB, n int) []told {
	tb.Helper()
	var all []told
	ids := make(map[string]bool)
	for _, rec := range b.ReadAll(tb, schemas.TopicRawEvents, b.sent()+n) {
		h, err := kafka.HeadersOf(rec)
		if err != nil || h.Origin != schemas.OriginPersonas {
			continue
		}
		if err := schematest.CheckEvent(rec.Value); err != nil || ids[h.MessageID] {
			tb.Errorf("%s: %v, told before: %t", rec.Value, err, ids[h.MessageID])
		}
		ids[h.MessageID] = true
		all = append(all, read(tb, rec))
	}
	return all
}

// sent is how many records of others there are.
func (b *bench) sent() int { return b.calls }

func read(tb testing.TB, rec *kgo.Record) told {
	tb.Helper()
	var call struct {
		UserID      string                     `json:"userId"`
		AnonymousID string                     `json:"anonymousId"`
		Traits      map[string]json.RawMessage `json:"traits"`
		Timestamp   time.Time                  `json:"timestamp"`
		Context     struct {
			Personas struct {
				Key     string `json:"computation_key"`
				Cause   string `json:"cause"`
				Version int    `json:"version"`
			} `json:"personas"`
		} `json:"context"`
	}
	if err := json.Unmarshal(rec.Value, &call); err != nil {
		tb.Fatal(err)
	}
	p := call.Context.Personas
	return told{call.UserID + call.AnonymousID, p.Key, string(call.Traits[p.Key]), p.Cause, p.Version, call.Timestamp}
}

// audience is one whose members have done something at least so often within a time, which
// is all time when zero.
func audience(id, event string, times float64, within time.Duration) engine.Audience {
	did := &definition.Did{Event: trackEvent(event, within), Take: definition.Count, Is: gte(times)}
	return engine.Audience{
		Audience: definition.Audience{Common: common(id), When: definition.Cond{Leaf: &definition.Leaf{Did: did}}},
		Version:  1,
	}
}

func common(id string) definition.Common {
	return definition.Common{ID: id, Name: id, Enabled: true, History: definition.History{Full: true}, Send: definition.SendIdentify}
}

func gte(n float64) definition.Test {
	return definition.Test{{Op: definition.Gte, Values: []definition.Value{{Kind: definition.Number, Number: n}}}}
}

func trackEvent(name string, within time.Duration) definition.Event {
	e := definition.Event{Type: definition.Track, Name: name}
	if within > 0 {
		e.Window = definition.Window{Kind: definition.Within, Far: within}
	}
	return e
}

// counted is a trait that counts orders of all time: each of them is told.
func counted() engine.Trait {
	return engine.Trait{Trait: definition.Trait{Common: common("orders"), Take: definition.Count, Event: trackEvent("Order", 0)}, Version: 1}
}

// begun has a stage be there once: what comes from then on is no history.
func (b *bench) begun(tb testing.TB, changes ...func(*Config, *Settings)) {
	tb.Helper()
	stop := start(tb, b.stage(tb, changes...))
	testkit.Until(tb, func() bool {
		commits, err := b.topics.Commits(tb.Context(), Group, schemas.TopicPersonasInternal)
		return err == nil && len(commits) == partitions
	}, "each clock to have ticked")
	stop()
}

func manual() kgo.Opt { return kgo.RecordPartitioner(kgo.ManualPartitioner()) }
