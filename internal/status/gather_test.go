package status

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/archive"
	"github.com/anabranch/anabranch/ingest"
	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	webhooksink "github.com/anabranch/anabranch/webhook-sink"
)

const (
	routerGroup = router.Group
	sinkGroup   = webhooksink.Group
)

// stages are those of the product. The sink has settings of its own.
func stages() pipeline.Stages {
	all := pipeline.List{ingest.Stage, router.Stage, webhooksink.Stage}.Make()
	sink := all[2]
	sink.Group.Finished, sink.Group.Busy = nil, nil
	sink.Facts = func() pipeline.Facts { return pipeline.Facts{Window: 4 * time.Hour} }
	return all
}

// basin is a cluster with what a pipeline leaves on it.
type basin struct {
	t       testing.TB
	cluster *testkit.Cluster
	cl      *kgo.Client
	set     Settings
}

func newBasin(tb testing.TB, destinations ...workspace.Destination) *basin {
	tb.Helper()
	cluster := testkit.Brokers(tb)
	cl := cluster.Client(tb)
	config := policy.Config{Partitions: 1, DeliverPartitions: 1, Replication: -1, RawRetention: 48 * time.Hour}
	return &basin{t: tb, cluster: cluster, cl: cl, set: Settings{
		Kafka: cluster.Options(), Topics: topics.New(cl, config), Brokers: []string{"here:9092"},
		Workspace: workspace.NewSnapshot(nil, destinations),
		Stages:    stages(), DeadSince: 24 * time.Hour,
	}}
}

func (b *basin) ensure(topics ...string) {
	b.t.Helper()
	if err := b.set.Topics.Ensure(b.t.Context(), topics...); err != nil {
		b.t.Fatal(err)
	}
}

// write creates the topics of records and writes them.
func (b *basin) write(records ...*kgo.Record) {
	b.t.Helper()
	for _, r := range records {
		b.ensure(r.Topic)
		r.Timestamp = time.Time{}
	}
	if err := b.cl.ProduceSync(b.t.Context(), records...).FirstErr(); err != nil {
		b.t.Fatal(err)
	}
}

// commit commits an offset of the sink with some metadata.
func (b *basin) commit(topic string, at int64, metadata string) {
	b.t.Helper()
	var offsets kadm.Offsets
	offsets.Add(kadm.Offset{Topic: topic, At: at, LeaderEpoch: -1, Metadata: metadata})
	if err := kadm.NewClient(b.cl).CommitAllOffsets(b.t.Context(), sinkGroup, offsets); err != nil {
		b.t.Fatal(err)
	}
}

// ample are limits for a machine that is busy with other tests.
func ample() limits {
	l := usualLimits()
	l.time = time.Minute
	return l
}

func (b *basin) report(lim limits) *Report {
	b.t.Helper()
	r, err := gather(b.t.Context(), b.set, lim)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func destination(id string, urls ...string) workspace.Destination {
	d := workspace.Destination{ID: id, Type: workspace.TypeWebhooks, Name: id, Enabled: true, SharedSecret: "canary-secret"}
	for _, url := range urls {
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{URL: url})
	}
	return d
}

func (r *Report) destination(t *testing.T, id string) Destination {
	t.Helper()
	for _, d := range r.Destinations {
		if d.ID == id {
			return d
		}
	}
	t.Fatalf("no destination %s in %+v", id, r.Destinations)
	return Destination{}
}

func (r *Report) advice(about string) string {
	var lines []string
	for _, a := range r.Advice {
		if a.About == about {
			lines = append(lines, a.Problem+": "+a.Do)
		}
	}
	return strings.Join(lines, "\n")
}

func TestAnEmptyCluster(t *testing.T) {
	t.Parallel()
	b := newBasin(t)
	r := b.report(ample())
	want := &Report{
		At: r.At, Brokers: []string{"here:9092"},
		Stages: []Stage{
			{Name: "router", Group: routerGroup, Members: []Member{}, Unread: []Unread{{Topic: "raw-events", Waiting: Backlog{Bound: Exact}, Pending: []int32{}}}},
			{Name: "webhook-sink", Group: sinkGroup, Members: []Member{}, Unread: []Unread{}},
		},
		Unrouted:     Backlog{Bound: Exact},
		Destinations: []Destination{}, Retries: []Retry{}, Incomplete: []string{}, UnroutedPending: []int32{}, Replays: []Replay{}, Imports: []Import{},
		DeadLetters: DeadLetters{Since: r.At.Add(-24 * time.Hour), Bound: Exact, Groups: []DeadGroup{}},
		Advice:      r.Advice,
	}
	if diff := cmp.Diff(want, r, cmpopts.IgnoreUnexported(Unread{})); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
	for _, stage := range []string{"router", "webhook-sink"} {
		if got := r.advice(stage); !strings.Contains(got, "start `anabranch "+stage+"`") {
			t.Errorf("advice about %s: %q", stage, got)
		}
	}
}

// A new cluster makes the topic of offsets when it is first asked for a group, which
// may well be by whoever wants to see whether it works.
func TestAClusterThatNeverHadAGroup(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	refusals := cluster.RefuseCoordinator(2)
	r, err := Gather(t.Context(), Settings{
		Kafka: cluster.Options(), Topics: topics.New(cluster.Client(t, kgo.RequestRetries(0)), policy.Config{}),
		Workspace: workspace.NewSnapshot(nil, nil), Stages: stages(), DeadSince: time.Hour,
	})
	if err != nil || len(r.Stages) != 2 || refusals.Load() != 0 {
		t.Errorf("report %+v, error %v, %d refusals left", r, err, refusals.Load())
	}
}

func TestADestinationThatIsDown(t *testing.T) {
	t.Parallel()
	url := "http://user:canary-password@crm.test/hook?token=canary-token"
	b := newBasin(t, destination("crm", url, "http://other.test/"), destination("mail", "http://mail.test/"))
	began := time.Now().UTC().Truncate(time.Millisecond)
	waits := func(h schemas.Headers) *kgo.Record {
		h.Destination, h.Received, h.Reason, h.Detail = "crm", began.Add(-2*time.Hour), schemas.ReasonStatus5xx, "endpoint 1 of 2: endpoint answered 503"
		h.FirstAttempt = began.Add(-time.Hour)
		h.Endpoints = []uint64{workspace.Endpoint{URL: url}.Fingerprint()}
		return record(schemas.RetryTopic(time.Minute), 0, h)
	}
	b.write(
		waits(schemas.Headers{Due: began.Add(time.Minute)}), waits(schemas.Headers{Due: began.Add(-2 * time.Minute), Withheld: 3}),
		record(schemas.DeliverTopic("crm"), 0, schemas.Headers{Received: began.Add(-time.Minute)}),
		record(schemas.DeliverTopic("gone"), 0, schemas.Headers{}),
	)
	b.ensure(schemas.DeliverTopic("mail"))
	r := b.report(ample())
	crm := r.destination(t, "crm")
	want := Destination{
		ID: "crm", State: Enabled, Withheld: 1, FailingSince: new(began.Add(-time.Hour)),
		Undelivered: Backlog{1, Exact, new(began.Add(-time.Minute))}, Retrying: Backlog{2, Exact, new(began.Add(-2 * time.Hour))},
		Failures:  []Failure{{Reason: schemas.ReasonStatus5xx, Detail: "endpoint 1 of 2: endpoint answered 503", Events: 2}},
		Endpoints: []Endpoint{{URL: "http://crm.test/hook", Events: 2}}, Busy: []BusyPartition{}, Type: workspace.TypeWebhooks,
		Replaying: Backlog{Bound: Exact},
		Due:       []Due{{"0s", 1}, {"1m", 1}, {"5m", 0}, {"15m", 0}, {"30m", 0}, {"", 0}},
	}
	if diff := cmp.Diff(want, crm, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".due" }, cmp.Ignore())); diff != "" {
		t.Errorf("crm (-want +got):\n%s", diff)
	}
	if mail := r.destination(t, "mail"); mail.Undelivered.Events+mail.Retrying.Events > 0 || r.advice("mail") != "" {
		t.Errorf("mail %+v: %s", mail, r.advice("mail"))
	}
	if gone := r.destination(t, "gone"); gone.State != Removed || gone.Undelivered.Events != 1 {
		t.Errorf("a destination that was removed is %+v", gone)
	}
	if len(r.Retries) != 1 || r.Retries[0].Delay != "1m" || r.Retries[0].Waiting.Events != 2 || r.Retries[0].Overdue != 1 {
		t.Errorf("retries %+v", r.Retries)
	}
	for _, part := range []string{"3 events wait", "failing with status_5xx", "fix the receiver", began.Add(3 * time.Hour).Format("15:04:05Z")} {
		if got := r.advice("crm"); !strings.Contains(got, part) {
			t.Errorf("advice %q, want %q in it", got, part)
		}
	}
	var out bytes.Buffer
	if err := Table(&out, r); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&out, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "canary") {
		t.Errorf("a secret is shown:\n%s", out.String())
	}
}

// TestAReplayThatWaitsIsNoBacklog of its destination, however many events and however old.
func TestAReplayThatWaitsIsNoBacklog(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	old := schemas.Headers{Received: time.Now().Add(-72 * time.Hour), Origin: schemas.OriginReplay, Run: "run"}
	b.write(record(schemas.ReplayTopic("crm"), 0, old), record(schemas.ReplayTopic("crm"), 0, old), record(schemas.ReplayTopic("crm"), 0, old))
	b.commit(schemas.ReplayTopic("crm"), 1, "")
	old.Destination, old.Due, old.FirstAttempt = "crm", time.Now(), time.Now()
	b.write(record(schemas.RetryTopic(time.Minute), 0, old))
	r := b.report(ample())
	crm := r.destination(t, "crm")
	if crm.Undelivered.Events != 0 || crm.Replaying != (Backlog{2, AtMost, nil}) || crm.Retrying.Events != 1 || r.age(crm.Retrying) > time.Minute || len(r.Incomplete) > 0 {
		t.Errorf("crm %+v, incomplete %v", crm, r.Incomplete)
	}
	var out bytes.Buffer
	if err := Table(&out, r); err != nil || !strings.Contains(out.String(), "crm: at most 2 events of replays, which wait behind live ones") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// The sink commits up to its lowest unfinished record, and says in the metadata
// what has overtaken that.
func TestWhatTheSinkHasFinishedDoesNotWait(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	topic := schemas.DeliverTopic("crm")
	b.write(record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}))
	b.commit(topic, 1, "done: 2")
	b.set.Stages[2].Group.Finished = func(committed int64, metadata string) func(*kgo.Record) bool {
		if committed != 1 || metadata != "done: 2" {
			t.Errorf("asked about %q at %d", metadata, committed)
		}
		return func(r *kgo.Record) bool { return r.Offset == 2 && r.LeaderEpoch >= 0 }
	}
	if got := b.report(ample()).destination(t, "crm").Undelivered; got.Events != 2 || got.Bound != Exact {
		t.Errorf("undelivered %+v, want the records 1 and 3", got)
	}
	b.commit(topic, 4, "")
	if got := b.report(ample()).destination(t, "crm").Undelivered; got.Events != 0 || got.Oldest != nil {
		t.Errorf("undelivered %+v, want none", got)
	}
}

// What one user has beyond what its receiver takes one at a time holds back the
// commit of its partition, and its metadata say so.
func TestBusyUsersAreNamedByPartition(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	topic := schemas.DeliverTopic("crm")
	b.write(record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}))
	b.commit(topic, 1, "busy")
	b.set.Stages[2].Group.Busy = func(committed int64, metadata string) (int, int64) {
		if committed != 1 || metadata != "busy" {
			t.Errorf("asked about %q at %d", metadata, committed)
		}
		return 1, 1204
	}
	r := b.report(ample())
	if got := r.destination(t, "crm").Busy; len(got) != 1 || got[0] != (BusyPartition{Partition: 0, Keys: 1, Events: 1204}) {
		t.Errorf("busy partitions %+v", got)
	}
	for _, part := range []string{"1,204 events of 1 user wait for one another on deliver.crm[0]", "one at a time"} {
		if got := r.advice("crm"); !strings.Contains(got, part) {
			t.Errorf("advice %q, want %q in it", got, part)
		}
	}
	b.commit(topic, 2, "")
	if got := b.report(ample()).destination(t, "crm").Busy; got == nil || len(got) != 0 {
		t.Errorf("busy partitions %+v, want none", got)
	}
}

// The markers of transactions have offsets, and nobody waits for them.
func TestMarkersDoNotWait(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	topic := schemas.DeliverTopic("crm")
	b.ensure(topic)
	cl := b.cluster.Client(t, kgo.TransactionalID("status"), kgo.DefaultProduceTopic(topic))
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := cl.ProduceSync(t.Context(), kgo.StringRecord("{}")).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := cl.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.report(ample()).destination(t, "crm").Undelivered; got.Events != 1 || got.Bound != Exact {
		t.Errorf("undelivered %+v, want the one event that was committed", got)
	}
	b.commit(topic, 1, "")
	if got := b.report(ample()).destination(t, "crm").Undelivered; got.Events != 0 || got.Bound != Exact {
		t.Errorf("undelivered %+v, want none", got)
	}
}

// What retention took away undone is lost, and nobody else says so.
func TestWhatRetentionDeletedIsTold(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	admin := kadm.NewClient(b.cl)
	topics := map[string]string{schemas.TopicRawEvents: routerGroup, schemas.DeliverTopic("crm"): sinkGroup, schemas.RetryTopic(5 * time.Second): sinkGroup}
	var to kadm.Offsets
	for topic, group := range topics {
		b.write(record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}), record(topic, 0, schemas.Headers{}))
		var committed kadm.Offsets
		committed.Add(kadm.Offset{Topic: topic, At: 1, LeaderEpoch: -1})
		if err := admin.CommitAllOffsets(t.Context(), group, committed); err != nil {
			t.Fatal(err)
		}
		to.Add(kadm.Offset{Topic: topic, At: 3})
	}
	if deleted, err := admin.DeleteRecords(t.Context(), to); err != nil || deleted.Error() != nil {
		t.Fatal(err, deleted.Error())
	}
	r := b.report(usualLimits())
	if got := r.destination(t, "crm").Deleted; got != 2 || r.UnroutedDeleted != 2 || len(r.Retries) != 1 || r.Retries[0].Deleted != 2 {
		t.Errorf("deleted: %d undelivered, %d unrouted, retries %+v; want 2 each", got, r.UnroutedDeleted, r.Retries)
	}
	for _, about := range []string{"raw-events", "crm", "webhook-retry.5s"} {
		if !strings.Contains(r.advice(about), "retention deleted up to 2 events") {
			t.Errorf("advice about %s: %q", about, r.advice(about))
		}
	}
}

func TestDeadLettersOfAWhile(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	b.ensure(schemas.TopicRedriven)
	dead := func() *kgo.Record {
		return record(schemas.TopicDeadLetters, 0, schemas.Headers{Destination: "crm", Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 410", FailedAt: time.Now()})
	}
	b.ensure(schemas.TopicDeadLetters)
	b.cluster.KeepTimestamps(t, schemas.TopicDeadLetters)
	old := dead()
	old.Timestamp = time.Now().Add(-48 * time.Hour)
	if err := b.cl.ProduceSync(t.Context(), old).FirstErr(); err != nil {
		t.Fatal(err)
	}
	b.write(dead(), dead())
	last := dead()
	b.write(last)
	mark, err := deadletters.Mark(&deadletters.Letter{ID: deadletters.ID{Partition: last.Partition, Offset: last.Offset}, Record: last}, time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	b.write(mark)
	got := b.report(ample())
	if len(got.DeadLetters.Groups) != 1 || got.DeadLetters.Groups[0].Events != 3 || got.DeadLetters.Groups[0].Redriven != 1 {
		t.Errorf("dead letters %+v", got.DeadLetters)
	}
	if text := got.advice("crm"); !strings.Contains(text, "2 events given up as status_4xx") || !strings.Contains(text, "redrive --destination crm --reason status_4xx") {
		t.Errorf("advice %q", text)
	}
	b.set.DeadSince = 72 * time.Hour
	if got := b.report(ample()); got.DeadLetters.Groups[0].Events != 4 {
		t.Errorf("dead letters of three days: %+v", got.DeadLetters)
	}
}

// What is too much to be read is said to be.
func TestTooMuchToRead(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	var records []*kgo.Record
	for range 10 {
		records = append(records, record(schemas.DeliverTopic("crm"), 0, schemas.Headers{}),
			record(schemas.RetryTopic(time.Minute), 0, schemas.Headers{Destination: "crm", Due: time.Now()}),
			record(schemas.TopicDeadLetters, 0, schemas.Headers{Destination: "crm", Reason: schemas.ReasonTLS, FailedAt: time.Now()}))
	}
	b.write(records...)
	r := b.report(limits{ranges.Limits{PerSpan: 3, Total: 100}, ample().time})
	crm := r.destination(t, "crm")
	if crm.Undelivered.Events != 10 || crm.Undelivered.Bound != AtMost || crm.Retrying.Events != 3 || crm.Retrying.Bound != AtLeast {
		t.Errorf("undelivered %+v, retrying %+v", crm.Undelivered, crm.Retrying)
	}
	if w := r.Retries[0].Waiting; w.Events != 10 || w.Bound != AtMost {
		t.Errorf("waiting %+v", w)
	}
	if d := r.DeadLetters; d.Bound != AtLeast || d.Groups[0].Events != 3 {
		t.Errorf("dead letters %+v", d)
	}
	if want := []string{"dead-letters", "deliver.crm", "webhook-retry.1m"}; !cmp.Equal(want, r.Incomplete) || r.advice("this report") == "" {
		t.Errorf("incomplete %v, want %v and a word about it", r.Incomplete, want)
	}
	if r := b.report(limits{Limits: ranges.Limits{PerSpan: 100, Total: 100}}); len(r.Incomplete) != 3 {
		t.Errorf("without any time %v was left", r.Incomplete)
	}
}

// Two stages that read the same topic are each behind by their own.
func TestTwoReadersOfATopic(t *testing.T) {
	t.Parallel()
	b := newBasin(t)
	b.set.Stages = append(b.set.Stages, &pipeline.Stage{
		Name: "tally", Group: pipeline.Group{Name: "anabranch-tally"},
		Topics: []pipeline.Topic{{Name: schemas.TopicRawEvents, Consumed: pipeline.Verb{To: "count", Done: "counted"}}},
	})
	old := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	b.write(
		record(schemas.TopicRawEvents, 0, schemas.Headers{Received: old}), record(schemas.TopicRawEvents, 0, schemas.Headers{Received: old.Add(time.Minute)}),
		record(schemas.TopicRawEvents, 0, schemas.Headers{Received: old.Add(2 * time.Minute)}),
	)
	var routed kadm.Offsets
	routed.Add(kadm.Offset{Topic: schemas.TopicRawEvents, At: 2, LeaderEpoch: -1})
	if err := kadm.NewClient(b.cl).CommitAllOffsets(t.Context(), routerGroup, routed); err != nil {
		t.Fatal(err)
	}
	r := b.report(ample())
	if want := (Backlog{1, Exact, new(old.Add(2 * time.Minute))}); !cmp.Equal(r.Unrouted, want) {
		t.Errorf("unrouted %+v, want %+v", r.Unrouted, want)
	}
	if want := (Backlog{3, Exact, new(old)}); !cmp.Equal(r.Stages[2].Unread[0].Waiting, want) {
		t.Errorf("not counted: %+v, want %+v", r.Stages[2].Unread[0].Waiting, want)
	}
	var out bytes.Buffer
	if err := Table(&out, r); err != nil || !strings.Contains(out.String(), "raw-events: 3 to count, the oldest") {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestWhatRuns(t *testing.T) {
	t.Parallel()
	b := newBasin(t, destination("crm", "http://crm.test/"))
	b.ensure(schemas.DeliverTopic("crm"), schemas.RetryTopic(time.Minute), schemas.TopicRawEvents)
	b.cluster.Client(t, kgo.ConsumerGroup(sinkGroup), kgo.InstanceID("webhook-sink-0"), kgo.ConsumeTopics(schemas.DeliverTopic("crm"), schemas.RetryTopic(time.Minute)))
	testkit.Until(t, func() bool {
		return b.report(ample()).Stages[1].State == "Stable"
	}, "the sink to join")
	r := b.report(ample())
	m := r.Stages[1].Members[0]
	if m.Instance != "webhook-sink-0" || !cmp.Equal(m.Partitions, map[string]int{"deliver": 1, "webhook-retry": 1}) {
		t.Errorf("member %+v", m)
	}
	if r.advice("webhook-sink") != "" || r.advice("router") == "" {
		t.Errorf("advice %+v", r.Advice)
	}
}

// TestAnArchiveThatWasRemoved is known by its topic: nobody takes what waits there.
func TestAnArchiveThatWasRemoved(t *testing.T) {
	t.Parallel()
	b := newBasin(t)
	b.set.Stages = append(b.set.Stages, pipeline.List{archive.Stage}.Make()...)
	b.write(record(schemas.ArchiveTopic("cold"), 0, schemas.Headers{}))
	r := b.report(ample())
	if cold := r.destination(t, "cold"); cold.State != Removed || cold.Type != workspace.TypeArchive || cold.Undelivered.Events != 1 {
		t.Errorf("%+v", cold)
	}
	if a := r.advice("cold"); !strings.Contains(a, "1 event waits of an archive that is not in the workspace") {
		t.Errorf("advice %q", a)
	}
}
