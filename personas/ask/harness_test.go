package ask

import (
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
	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

const partitions = 3

// bench is a broker with a stage that runs, and all calls that were sent.
type bench struct {
	*testkit.Cluster
	Log

	client  *kgo.Client
	inForce atomic.Pointer[engine.Definitions]
	calls   []*kgo.Record
}

func newBench(tb testing.TB, c *testkit.Cluster, d engine.Definitions) *bench {
	tb.Helper()
	b := &bench{Cluster: c, client: c.Client(tb)}
	options, err := kafka.Config{Brokers: b.Addrs}.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	b.Kafka = slices.Concat(options, b.Options())
	b.Topics = topics.New(b.client, policy.Config{Partitions: partitions, Replication: -1, RawRetention: 30 * 24 * time.Hour})
	b.apply(d)
	if err := b.Topics.Ensure(tb.Context(), schemas.TopicRawEvents, schemas.TopicPersonasInternal, schemas.TopicPersonasChangelog); err != nil {
		tb.Fatal(err)
	}
	return b
}

// apply puts definitions in force.
func (b *bench) apply(d engine.Definitions) {
	b.Workspace = Workspace{defined: d}
	b.inForce.Store(&d)
}

// start runs the stage until stop.
func (b *bench) start(tb testing.TB) (stop func()) {
	tb.Helper()
	stage, err := personas.New(personas.Config{
		Store: "memory", StoreMemory: 64 << 20, ProfileMemory: 8 << 20, MaxRecords: 5000, TransactionTimeout: 10 * time.Second,
	}, personas.Settings{
		Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Definitions: b.inForce.Load,
		Kafka: b.Kafka, Topics: b.Topics, TransactionalID: "anabranch-personas-a",
	})
	if err != nil {
		tb.Fatal(err)
	}
	return testkit.Start(tb, stage.Run)
}

func (b *bench) track(user, event, properties string) *kgo.Record {
	return b.call(schemas.TypeTrack, user, fmt.Sprintf(`"event":%q,"properties":%s`, event, properties))
}

func (b *bench) identify(user, traits string) *kgo.Record {
	return b.call(schemas.TypeIdentify, user, `"traits":`+traits)
}

func (b *bench) call(kind schemas.Type, user, members string) *kgo.Record {
	id := fmt.Sprintf("m-%d", len(b.calls))
	at := time.Now().UTC().Truncate(time.Millisecond)
	value := fmt.Sprintf(`{"type":%q,"messageId":%q,"userId":%q,%s,"timestamp":%q,"context":{}}`, kind, id, user, members, at.Format(schemas.TimeLayout))
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: []byte(value), Timestamp: at}
	kafka.SetHeaders(rec, &schemas.Headers{Source: "website", Type: kind, MessageID: id, Origin: schemas.OriginAPI})
	b.calls = append(b.calls, rec)
	return rec
}

func (b *bench) send(tb testing.TB, records ...*kgo.Record) {
	tb.Helper()
	if err := b.client.ProduceSync(tb.Context(), records...).FirstErr(); err != nil {
		tb.Fatal(err)
	}
}

// settle waits until the stage has done all there is to do.
func settle() { virtual.Sleep(10 * time.Second) }

// oracle is a user's profile by all calls that were sent, whatever the stage has made of
// them, up to an instant.
func (b *bench) oracle(tb testing.TB, c *engine.Catalogue, user string) *engine.Profile {
	tb.Helper()
	p := c.NewProfile()
	for _, rec := range b.calls {
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			tb.Fatal(err)
		}
		var call engine.Call
		call.Offset = rec.Offset
		if err := engine.ParseCall(&call, rec.Value, &h, rec.Timestamp); err != nil {
			tb.Fatal(err)
		}
		if string(rec.Key) == user {
			c.Fold(p, &call, nil)
		}
	}
	return p
}

func audience(tb testing.TB, text string) engine.Audience {
	tb.Helper()
	a, err := definition.ParseAudience([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return engine.Audience{Audience: a, Version: 1}
}

func trait(tb testing.TB, text string) engine.Trait {
	tb.Helper()
	t, err := definition.ParseTrait([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return engine.Trait{Trait: t, Version: 1}
}

// shop are definitions that have every kind of node.
func shop(tb testing.TB) engine.Definitions {
	tb.Helper()
	return engine.Definitions{
		Audiences: []engine.Audience{
			audience(tb, `{"id":"buyers_5m","when":{"did":"Order Completed","times":{"gte":2},"within":"5m"}}`),
			audience(tb, `{"id":"big_spenders","when":{"all":[{"did":"Order Completed","take":"sum","of":"total","is":{"gte":100}},{"any":[{"trait":"plan","is":["pro","enterprise"]},{"computed":"orders","is":{"gte":5}}]}]}}`),
			audience(tb, `{"id":"winback","when":{"all":[{"not":{"audience":"buyers_5m"}},{"profile":"first_seen","is":{"before_last":"2m"}},{"did":{"page":"*"},"times":0}]}}`),
		},
		Traits: []engine.Trait{
			trait(tb, `{"id":"orders","take":"count","did":"Order Completed"}`),
			trait(tb, `{"id":"favourite","take":"most_frequent","of":"category","did":"Order Completed"}`),
		},
	}
}
