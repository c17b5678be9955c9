package replay

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// sinkGroup stands for the stage that delivers what is replayed.
const sinkGroup = "anabranch-test-sink"

// bench is a broker with a log of events, and a workspace.
type bench struct {
	*testkit.Cluster
	client *kgo.Client
	topics *topics.Admin
	live   *workspace.Live
	reg    *prometheus.Registry
}

func newBench(tb testing.TB, destinations ...string) *bench {
	tb.Helper()
	return newBenchOn(tb, testkit.Brokers(tb), destinations...)
}

func newBenchOn(tb testing.TB, c *testkit.Cluster, destinations ...string) *bench {
	tb.Helper()
	b := &bench{Cluster: c}
	b.client = b.Client(tb)
	b.topics = topics.New(b.client, policy.Config{Partitions: 3, DeliverPartitions: 2, Replication: -1, RawRetention: time.Hour})
	b.live = workspace.NewLive(connected(destinations...))
	names := []string{schemas.TopicRawEvents, schemas.TopicReplays}
	for _, id := range destinations {
		names = append(names, schemas.DeliverTopic(id))
	}
	if err := b.topics.Ensure(tb.Context(), names...); err != nil {
		tb.Fatal(err)
	}
	return b
}

// connected has a source to which destinations listen.
func connected(destinations ...string) *workspace.Snapshot {
	all := make([]workspace.Destination, 0, len(destinations))
	for _, id := range destinations {
		all = append(all, workspace.Destination{
			ID: id, Type: workspace.TypeWebhooks, Enabled: true, Sources: []string{"web"},
			Endpoints: []workspace.Endpoint{{URL: "https://example.com/" + id}},
		})
	}
	return workspace.NewSnapshot([]workspace.Source{{ID: "web", Enabled: true, WriteKeyHash: workspace.HashWriteKey("w")}}, all)
}

// listeners is the part of the router's rule that these tests are about: who is connected.
type listeners struct{}

func (listeners) Judge(into *journal.Call, h *schemas.Headers, ws *workspace.Snapshot) {
	into.Result, into.Decisions = journal.Unconnected, into.Decisions[:0]
	for _, d := range ws.Listeners(h.Source) {
		into.Result = journal.Routed
		into.Decisions = append(into.Decisions, journal.Decision{Destination: d.ID, Result: journal.Sent})
	}
}

// fill writes n events of ten users to raw-events, numbered from 0.
func (b *bench) fill(tb testing.TB, n int) {
	tb.Helper()
	b.fillFrom(tb, 0, n)
}

func (b *bench) fillFrom(tb testing.TB, from, n int) {
	tb.Helper()
	all := make([]*kgo.Record, 0, n)
	for i := range n {
		all = append(all, event(fmt.Sprintf("u%d", i%10), from+i))
	}
	if err := b.client.ProduceSync(tb.Context(), all...).FirstErr(); err != nil {
		tb.Fatal(err)
	}
}

func event(user string, n int) *kgo.Record {
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: fmt.Appendf(nil, `{"type":"track","event":"e%d","userId":%q}`, n%7, user)}
	kafka.SetHeaders(rec, &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: fmt.Sprintf("m%d", n), Origin: schemas.OriginAPI})
	return rec
}

// service returns one that is not running yet, like another process each time.
func (b *bench) service(t *testing.T, changes ...func(*Settings)) *Service {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	reg := prometheus.NewRegistry()
	b.reg = reg
	set := Settings{
		Logger: log, Registerer: reg, Destinations: telemetry.NewDestinations(100, reg, log), Workspace: b.live,
		Kafka: b.Options(), Topics: b.topics, Judge: func() Judge { return listeners{} },
		Readers: func(string) []string { return []string{sinkGroup} },
	}
	for _, change := range changes {
		change(&set)
	}
	return New(set)
}

// ask starts a run of all that there is.
func (b *bench) ask(t *testing.T, change func(*Run)) *Run {
	t.Helper()
	o := &Operator{Kafka: b.Options(), Topics: b.topics}
	r, err := o.Resolve(t.Context(), time.Now().Add(-time.Hour), time.Time{}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r.Rate = MaxRate
	for _, d := range b.live.Load().Destinations() {
		r.Destinations = append(r.Destinations, d.ID)
	}
	if change != nil {
		change(r)
	}
	if err := o.Write(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	return r
}

// entry is what the topic says of a run.
func (b *bench) entry(t *testing.T, id string) *Entry {
	t.Helper()
	book, err := (&Operator{Kafka: b.Options(), Topics: b.topics}).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return book.Get(id)
}

// over waits for the end of a run.
func (b *bench) over(t *testing.T, id string) *Entry {
	t.Helper()
	var e *Entry
	testkit.Until(t, func() bool {
		e = b.entry(t, id)
		return e.Over()
	}, "the end of the run")
	return e
}

// drain has the sink of the test finish all that comes to some destinations.
func (b *bench) drain(t *testing.T, destinations ...string) (stop func()) {
	t.Helper()
	admin := kadm.NewClient(b.Client(t))
	return testkit.Start(t, func(ctx context.Context) error {
		for tick := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; <-tick.C {
			for _, id := range destinations {
				ends, err := admin.ListCommittedOffsets(ctx, schemas.ReplayTopic(id))
				if err != nil {
					continue
				}
				offsets := make(kadm.Offsets)
				ends.Each(func(o kadm.ListedOffset) {
					if o.Err == nil {
						offsets.AddOffset(o.Topic, o.Partition, o.Offset, -1)
					}
				})
				_, _ = admin.CommitOffsets(ctx, sinkGroup, offsets)
			}
		}
		return nil
	})
}

// once fails unless a destination was sent each of n events once, those of each user in
// their order, with the headers of a replay.
func (b *bench) once(t *testing.T, destination, run string, n int) {
	t.Helper()
	last := make(map[string]int)
	for _, rec := range b.ReadAll(t, schemas.ReplayTopic(destination), n) {
		h, err := kafka.HeadersOf(rec)
		if err != nil || h.Origin != schemas.OriginReplay || h.Run != run || h.Received.IsZero() || h.Source != "web" {
			t.Errorf("headers %+v, %v", h, err)
		}
		var number int
		if _, err := fmt.Sscanf(h.MessageID, "m%d", &number); err != nil {
			t.Error(err)
		}
		if before, known := last[string(rec.Key)]; known && number <= before {
			t.Errorf("m%d of %s comes behind m%d", number, rec.Key, before)
		}
		last[string(rec.Key)] = number
		if !strings.Contains(string(rec.Value), `"userId":"`+string(rec.Key)) {
			t.Errorf("value %s under key %s", rec.Value, rec.Key)
		}
	}
}

// suppressing knows that a user is suppressed.
func suppressing(t *testing.T, userID string) *regulation.Register {
	t.Helper()
	register := regulation.NewRegister(nil, nil)
	suppress(t, register, userID)
	return register
}

func suppress(t *testing.T, register *regulation.Register, userID string) {
	t.Helper()
	sum := sha256.Sum256([]byte(userID))
	if err := register.Apply(fmt.Appendf(nil, "suppression/%x", sum[:16]), []byte("{}")); err != nil {
		t.Fatal(err)
	}
}
