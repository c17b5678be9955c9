package wstopic

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wsrecord"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// users writes down what it is given.
type users struct {
	mu      sync.Mutex
	keys    []string
	missing int // users that the topic lacks, whenever it is read from its start
}

// Renew takes records in as Apply does.
func (u *users) Renew() (apply func(key, value []byte) error, finish func() (users, requests int)) {
	return u.Apply, func() (int, int) { return u.missing, 0 }
}

func (u *users) Apply(key, value []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keys = append(u.keys, string(key))
	if string(value) == "bad" {
		return errors.New("expected something else")
	}
	return nil
}

func (u *users) seen() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.keys)
}

// TestRecordsAboutUsersAreHandedOn in their order, before the follower is ready and
// after, and put no workspace in force.
func TestRecordsAboutUsersAreHandedOn(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	write(t, c, record("suppression/1", "{}"), record("regulation-subjects/a-0", "bad"), record("regulation/a", "{}"))
	out, sink := new(testkit.Logs), new(users)
	live := workspace.NewLive(workspace.NewSnapshot(nil, nil))
	f := NewFollower(FollowerSettings{Logger: out.Logger(), Registerer: prometheus.NewRegistry(), Kafka: c.Options(), Live: live, Regulations: sink})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	ready(t, f)
	if got := len(sink.seen()); got != 3 {
		t.Errorf("ready with %d of 3 records", got)
	}
	in := live.Load()
	write(t, c, record("suppression/2", "{}"), record("regulation-run/a", "{}"))
	want := []string{"suppression/1", "regulation-subjects/a-0", "regulation/a", "suppression/2", "regulation-run/a"}
	testkit.Until(t, func() bool { return slices.Equal(sink.seen(), want) }, "all records to be handed on")
	if live.Load() != in || out.Count("workspace in force") != 1 {
		t.Error("a workspace was put in force again")
	}
	if got := testutil.ToFloat64(f.metrics.unreadable); got != 1 || !strings.Contains(out.String(), "workspace[0]@") {
		t.Errorf("counted %v unreadable records\n%s", got, out)
	}
}

// TestRecordsAboutUsersArePassedOver by who has no use for them.
func TestRecordsAboutUsersArePassedOver(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	write(t, c, record("suppression/1", "{}"), record("regulation/a", "{}"))
	f, live, out := following(t, c.Options())
	ready(t, f)
	inForce(t, live, "a")
	if got := testutil.ToFloat64(f.metrics.unreadable); got != 0 {
		t.Errorf("counted %v unreadable records\n%s", got, out)
	}
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))
}

// TestAnEndInTheMidstOfAnotherTransaction: a regulation's marker between two records
// of a workspace does not make half of that a state.
func TestAnEndInTheMidstOfAnotherTransaction(t *testing.T) {
	t.Parallel()
	tail := &tail{Table: wsrecord.NewTable()}
	destination := `{"type":"webhooks","endpoints":[{"url":"http://a"}]}`
	for i, step := range []struct {
		key      string // of a record; empty for the end of a transaction
		producer int64
		settled  bool
	}{
		{"destination/a", 1, false},
		{"suppression/1", 2, false},
		{"", 2, false},
		{"destination/b", 1, false},
		{"", 1, true},
		{"suppression/2", 3, true}, // no state of a workspace waits for it
		{"", 3, true},
	} {
		tail.take(&kgo.Record{
			Key: []byte(step.key), Value: []byte(destination), Offset: int64(i), ProducerID: step.producer,
			Attrs: kgo.NewRecordAttrs(kgo.RecordAttrsOpts{Transactional: true, Control: step.key == ""}),
		}, func(err error) {
			if err != nil {
				t.Error(err)
			}
		})
		if tail.settled() != step.settled {
			t.Errorf("behind record %d: settled %v", i, !step.settled)
		}
	}
}

// TestPublishingBesideRegulations: what others write about users does not count as a
// workspace of somebody else's, and a workspace among it does.
func TestPublishingBesideRegulations(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	p := publisher(t, c)
	apply(t, p, wstest.Of("a"))
	from := read(t, c).end
	end := transaction(t, c, record("suppression/1", "{}"), record("regulation/a", "{}"))
	state := read(t, c) // which ends before the open transaction
	end(kgo.TryCommit)
	records := []*kgo.Record{record("destination/b", `{"type":"webhooks","endpoints":[{"url":"http://b"}]}`)}
	if err := p.commit(timeout(t), records, state.end); err != nil {
		t.Errorf("behind a regulation: %v", err)
	}
	write(t, c, record("suppression/2", "{}"))
	records = []*kgo.Record{record("destination/c", `{"type":"webhooks","endpoints":[{"url":"http://c"}]}`)}
	if err := p.commit(timeout(t), records, from); !errors.Is(err, errOvertaken) {
		t.Errorf("behind another workspace: %v", err)
	}
	if got := wstest.IDs(read(t, c).Snapshot); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("published: %v", got)
	}
}

// TestTheTopicOfRegulations is followed on its own: what it held at the start is handed over
// before the follower is ready, and no record there is taken for one of a workspace.
func TestTheTopicOfRegulations(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	out, sink := new(testkit.Logs), new(users)
	live := workspace.NewLive(wstest.Of("a"))
	in := live.Load()
	set := FollowerSettings{Logger: out.Logger(), Registerer: prometheus.NewRegistry(), Kafka: c.Options(), Live: live, Regulations: sink}
	f := NewRegulationsFollower(set, NewFollower(set))
	testkit.Start(t, func(ctx context.Context) error { return f.Run(ctx) })
	testkit.Until(t, func() bool { return out.Count("topic regulations does not exist yet") > 0 }, "the missing topic to be logged")
	if f.Ready() == nil {
		t.Error("ready without its topic")
	}
	c.CreateTopics(t, 1, schemas.TopicRegulations)
	cl := c.Client(t, kgo.DefaultProduceTopic(schemas.TopicRegulations), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := cl.ProduceSync(timeout(t), record("suppression/1", "{}"), record("destination/b", "bad")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	ready(t, f)
	testkit.Until(t, func() bool { return len(sink.seen()) == 2 }, "the records to be handed over")
	if live.Load() != in || out.Count("record skipped") != 1 || out.Count("holds no workspace") != 0 {
		t.Errorf("a workspace was made of it, or nothing was said:\n%s", out)
	}

	read := new(users)
	if err := ReadRegulations(timeout(t), c.Options(), read); err != nil || !slices.Equal(read.seen(), []string{"suppression/1", "destination/b"}) {
		t.Errorf("read %v, %v", read.seen(), err)
	}
}
