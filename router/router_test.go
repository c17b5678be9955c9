package router

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	kafkatopics "github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var topicConfig = policy.Config{Partitions: 3, DeliverPartitions: 2, Replication: -1, RawRetention: time.Hour}

// bench is a broker with the router's topics and a workspace.
type bench struct {
	*testkit.Cluster
	client *kgo.Client
	topics *kafkatopics.Admin
	live   *workspace.Live
	log    *bytes.Buffer
}

func newBench(tb testing.TB, c *testkit.Cluster) *bench {
	tb.Helper()
	b := &bench{Cluster: c, client: c.Client(tb), live: workspace.NewLive(snapshot()), log: new(bytes.Buffer)}
	b.topics = kafkatopics.New(b.client, topicConfig)
	names := []string{schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicSeen, schemas.TopicJournal}
	for _, d := range b.live.Load().Destinations() {
		names = append(names, schemas.DeliverTopic(d.ID))
	}
	if err := b.topics.Ensure(tb.Context(), names...); err != nil {
		tb.Fatal(err)
	}
	return b
}

// router returns a router that is not running yet, with changed settings.
func (b *bench) router(tb testing.TB, changes ...func(*Config, *Settings)) *Router {
	tb.Helper()
	options, err := kafka.Config{Brokers: b.Addrs}.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	cfg := Config{MaxRecords: 500, TransactionTimeout: 10 * time.Second, Dedup: 24 * time.Hour}
	set := Settings{
		Logger:          slog.New(slog.NewTextHandler(tb.Output(), nil)),
		Registerer:      prometheus.NewRegistry(),
		Workspace:       b.live,
		Kafka:           options,
		Topics:          b.topics,
		TransactionalID: "anabranch-router-a",
		Journal:         true,
	}
	for _, change := range changes {
		change(&cfg, &set)
	}
	r, err := New(cfg, set)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// start runs the router; the returned function stops it in the orderly way.
func start(tb testing.TB, r *Router) (stop func()) {
	tb.Helper()
	return testkit.Start(tb, r.Run)
}

// send produces events to raw-events as ingest does.
func (b *bench) send(tb testing.TB, events ...*kgo.Record) {
	tb.Helper()
	if err := b.client.ProduceSync(tb.Context(), events...).FirstErr(); err != nil {
		tb.Fatal(err)
	}
}

func event(user string, n int, h schemas.Headers) *kgo.Record {
	rec := &kgo.Record{
		Topic: schemas.TopicRawEvents,
		Key:   []byte(user),
		Value: fmt.Appendf(nil, `{"type":"track","event":"e%d","userId":%q}`, n, user),
	}
	h.Type, h.Origin, h.MessageID = schemas.TypeTrack, schemas.OriginAPI, fmt.Sprintf("%s-%d", user, n)
	kafka.SetHeaders(rec, &h)
	return rec
}

func TestRoutesByConnectionsAndIntegrations(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	both := event("u1", 1, schemas.Headers{Source: "web"})
	none := event("u1", 2, schemas.Headers{Source: "web", Integrations: []byte(`{"All":false}`)})
	own := event("u2", 3, schemas.Headers{Source: "web", Integrations: []byte(`{"All":false,"Webhooks":{}}`)})
	nobody := event("u3", 4, schemas.Headers{Source: "app"})
	b.send(t, both, none, own, nobody)
	r := b.router(t)
	start(t, r)

	taken := b.taken(t, 4)
	for _, id := range []string{"crm", "lake"} {
		got := b.ReadAll(t, schemas.DeliverTopic(id), 2)
		want := map[string]*kgo.Record{"u1": both, "u2": own}
		for _, rec := range got {
			sent := want[string(rec.Key)]
			if sent == nil || !bytes.Equal(rec.Value, sent.Value) {
				t.Errorf("%s: key %s, value %s: not the bytes that were sent", rec.Topic, rec.Key, rec.Value)
				continue
			}
			want := append(slices.Clone(sent.Headers), kgo.RecordHeader{Key: "received", Value: fmt.Append(nil, taken[string(sent.Value)])})
			if diff := cmp.Diff(want, rec.Headers); diff != "" {
				t.Errorf("%s: headers (-sent +got):\n%s", rec.Topic, diff)
			}
		}
	}
	b.ReadAll(t, schemas.DeliverTopic("off"), 0)
	b.ReadAll(t, schemas.TopicDeadLetters, 0)
	counts(t, r, map[string]float64{"crm routed": 2, "crm filtered": 1, "lake routed": 2, "lake filtered": 1, " unconnected": 1})
}

// taken returns when ingest took n events, by their values, in milliseconds: what their
// records on raw-events say, which on a real broker is its own time.
func (b *bench) taken(t *testing.T, n int) map[string]int64 {
	t.Helper()
	taken := make(map[string]int64, n)
	for _, rec := range b.ReadAll(t, schemas.TopicRawEvents, n) {
		taken[string(rec.Value)] = rec.Timestamp.UnixMilli()
	}
	return taken
}

// counts waits for the counters, which follow the commit.
func counts(t *testing.T, r *Router, want map[string]float64) {
	t.Helper()
	for labels, n := range want {
		var destination, result string
		if i := bytes.IndexByte([]byte(labels), ' '); i >= 0 {
			destination, result = labels[:i], labels[i+1:]
		}
		counter := r.stage.metrics.events.WithLabelValues(destination, result)
		testkit.Until(t, func() bool { return testutil.ToFloat64(counter) == n }, fmt.Sprintf("%q to be %v", labels, n))
	}
}

func TestPoisonLeavesByTheSameDoor(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	noSource := event("u", 1, schemas.Headers{})
	badMap := event("u", 2, schemas.Headers{Source: "web", Integrations: []byte(`{"All"`)})
	badHeader := event("u", 3, schemas.Headers{Source: "web"})
	badHeader.Headers = append(badHeader.Headers, kgo.RecordHeader{Key: "attempt", Value: []byte("many")})
	good := event("u", 4, schemas.Headers{Source: "web"})
	b.send(t, noSource, badMap, badHeader, good)
	r := b.router(t)
	start(t, r)

	if got := b.ReadAll(t, schemas.DeliverTopic("crm"), 1); !bytes.Equal(got[0].Value, good.Value) {
		t.Errorf("crm got %s, want the good record behind the poison", got[0].Value)
	}
	for i, rec := range b.ReadAll(t, schemas.TopicDeadLetters, 3) {
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		if h.Reason != schemas.ReasonRecordInvalid || h.Detail == "" || h.FailedAt.IsZero() {
			t.Errorf("dead letter %d: reason %q, detail %q, failed at %v", i, h.Reason, h.Detail, h.FailedAt)
		}
		if h.From.Topic != schemas.TopicRawEvents || h.From.Offset != int64(i) {
			t.Errorf("dead letter %d is from %+v, want raw-events@%d", i, h.From, i)
		}
		if want := [][]byte{noSource.Value, badMap.Value, badHeader.Value}[i]; !bytes.Equal(rec.Value, want) {
			t.Errorf("dead letter %d holds %s, want %s", i, rec.Value, want)
		}
	}
	counts(t, r, map[string]float64{" dead": 3, "crm routed": 1})
}

// TestARecordOfALaterReleaseGoesAside: an upgrade that rolls from router to router
// loses nothing to those that are still old, and the old ones go on.
func TestARecordOfALaterReleaseGoesAside(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	later := event("u", 1, schemas.Headers{Source: "web", Version: schemas.RecordVersion + 1})
	later.Headers = append(later.Headers, kgo.RecordHeader{Key: "tenant", Value: []byte("acme")})
	good := event("u", 2, schemas.Headers{Source: "web"})
	good.Headers = append(good.Headers, kgo.RecordHeader{Key: "hint", Value: []byte("that may be ignored")})
	b.send(t, later, good)
	r := b.router(t)
	start(t, r)

	if got := b.ReadAll(t, schemas.DeliverTopic("crm"), 1); !bytes.Equal(got[0].Value, good.Value) {
		t.Errorf("crm got %s, want the record behind the one of a later release", got[0].Value)
	}
	dead := b.ReadAll(t, schemas.TopicDeadLetters, 1)[0]
	h, err := kafka.HeadersOf(dead)
	if kafka.ReasonOf(err) != schemas.ReasonVersionUnknown || h.Reason != schemas.ReasonVersionUnknown || h.MessageID != "u-1" {
		t.Errorf("dead letter %+v, %v", h, err)
	}
	if !bytes.Equal(dead.Value, later.Value) || !slices.ContainsFunc(dead.Headers, func(h kgo.RecordHeader) bool { return h.Key == "tenant" }) {
		t.Errorf("dead letter lost of the record: value %s, headers %v", dead.Value, dead.Headers)
	}
	counts(t, r, map[string]float64{" dead": 1, "crm routed": 1})
}

// TestWhenACallWasTakenIsSaidOnce: an event that a stage further down puts back
// keeps the moment at which it came in, and so does a dead letter.
func TestWhenACallWasTakenIsSaidOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	received := time.UnixMilli(1_700_000_000_000).UTC()
	again := event("u", 1, schemas.Headers{Source: "web", Received: received})
	poison := event("u", 2, schemas.Headers{})
	b.send(t, again, poison)
	start(t, b.router(t))
	if h, err := kafka.HeadersOf(b.ReadAll(t, schemas.DeliverTopic("crm"), 1)[0]); err != nil || !h.Received.Equal(received) {
		t.Errorf("received %v, %v, want %v", h.Received, err, received)
	}
	taken := b.taken(t, 2)[string(poison.Value)]
	if h, err := kafka.HeadersOf(b.ReadAll(t, schemas.TopicDeadLetters, 1)[0]); err != nil || h.Received.UnixMilli() != taken {
		t.Errorf("received %v, %v, want %v", h.Received, err, time.UnixMilli(taken))
	}
}

// TestATimeThatNoHeaderHolds is what other producers may leave on raw-events: their
// events go on without it, or the sink could not read them.
func TestATimeThatNoHeaderHolds(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{time.UnixMilli(-1), time.UnixMilli(time.Now().UnixMicro())} {
		h := schemas.Headers{Source: "web", Type: schemas.TypeTrack}
		rec := &kgo.Record{Timestamp: at}
		kafka.SetHeaders(rec, &h)
		got, err := kafka.HeadersOf(&kgo.Record{Headers: onward(rec, &h)})
		if err != nil || !got.Received.IsZero() || got.Source != h.Source {
			t.Errorf("taken at %v: headers %+v, %v", at, got, err)
		}
	}
}

func TestFollowsTheWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	r := b.router(t)
	start(t, r)
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)

	fresh := workspace.Destination{ID: "fresh", Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"}}
	b.live.Store(workspace.NewSnapshot(b.live.Load().Sources(), []workspace.Destination{fresh}))
	second := event("u", 2, schemas.Headers{Source: "web"})
	b.send(t, second)

	// Nobody created the topic here: the router sees to it before it leads there.
	if got := b.ReadAll(t, schemas.DeliverTopic("fresh"), 1); !bytes.Equal(got[0].Value, second.Value) {
		t.Errorf("fresh got %s, want the event sent after the change", got[0].Value)
	}
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
}

// TestSeriesOfADestinationExistBeforeItsFirstEvent, or a rate over them would miss it.
func TestSeriesOfADestinationExistBeforeItsFirstEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	r := b.router(t)
	start(t, r)
	series := func(n int) func() bool {
		return func() bool { return testutil.CollectAndCount(r.stage.metrics.events) == n }
	}
	const none = 3 // those without a destination
	testkit.Until(t, series(none+3*len(b.live.Load().Destinations())), "series of all destinations")
	before := len(b.live.Load().Destinations())
	b.live.Store(workspace.NewSnapshot(nil, []workspace.Destination{{ID: "new"}}))
	testkit.Until(t, series(none+3*(before+1)), "series of a destination that was added")
}

func TestStopsWithinTheGraceWhenTheBrokerIsGone(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	b := newBench(t, c)
	r := b.router(t)
	stop := start(t, r)
	testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to join")
	c.Fake.Close()
	testkit.Until(t, func() bool { return r.Ready() != nil }, "the router to notice")
	began := time.Now()
	stop()
	if took := time.Since(began); took > 7*time.Second {
		t.Errorf("the stop took %s", took)
	}
}
