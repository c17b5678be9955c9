package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/test/testkit"
)

// cluster is one with a history on its topics.
type cluster struct {
	*testkit.Cluster
	*history

	client  *kgo.Client
	admin   *topics.Admin
	records map[string][]*kgo.Record // by "topic[partition]", in order of offsets
}

// stages are those whose groups an audit looks at.
func stages() pipeline.Stages {
	done := pipeline.Verb{To: "do", Done: "done"}
	return pipeline.Stages{
		{
			Name: "router", Group: pipeline.Group{Name: "anabranch-test-router"},
			Topics: []pipeline.Topic{{Name: schemas.TopicRawEvents, Consumed: done}, {Name: schemas.DeliverPrefix, Write: true}},
		},
		{Name: "personas", Group: pipeline.Group{Name: "anabranch-test-personas"}, Topics: []pipeline.Topic{{Name: schemas.TopicRawEvents, Consumed: done}}},
		{
			Name: "sink", Group: pipeline.Group{Name: "anabranch-test-sink", Finished: finished},
			Topics: []pipeline.Topic{{Name: schemas.DeliverPrefix, Consumed: done}, {Name: schemas.RetryPrefix, Consumed: done, Write: true}},
		},
	}
}

// finished reads a commit that names the offsets that are not.
func finished(_ int64, metadata string) func(*kgo.Record) bool {
	var waits []int64
	_ = json.Unmarshal([]byte(metadata), &waits)
	return func(r *kgo.Record) bool { return !slices.Contains(waits, r.Offset) }
}

func newCluster(t *testing.T, seed uint64) *cluster {
	t.Helper()
	c := &cluster{
		Cluster: testkit.Brokers(t), records: make(map[string][]*kgo.Record),
		history: &history{Rand: rand.New(rand.NewPCG(seed, 2)), dense: true, offsets: make(map[string]int64)},
	}
	c.began = time.Now().Add(-30 * time.Minute).UTC().Truncate(time.Second)
	c.CreateTopics(t, partitions, schemas.TopicRawEvents, schemas.TopicJournal, schemas.TopicDeadLetters, retryTopic)
	c.CreateTopics(t, 1, schemas.TopicRedriven)
	for d := range destinations {
		c.CreateTopics(t, partitions, schemas.DeliverTopic(fmt.Sprint("d", d)))
	}
	c.client = c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	c.admin = topics.New(c.client, policy.Config{})
	prints, err := journal.FindPrints(t.Context(), c.admin)
	if err != nil {
		t.Fatal(err)
	}
	c.keyID = prints.KeyID()
	c.print = func(source, id string) uint64 {
		return prints.Of(c.record(stand{}, &schemas.Headers{Source: source, MessageID: id}))
	}
	return c
}

// record is one of a call, wherever it stands.
func (c *cluster) record(at stand, h *schemas.Headers) *kgo.Record {
	r := &kgo.Record{Topic: at.topic, Partition: at.partition, Key: []byte("u-" + h.MessageID), Value: []byte("{}"), Timestamp: c.began}
	h.Type = schemas.TypeTrack
	kafka.SetHeaders(r, h)
	return r
}

// put puts a record where it has to stand. What stands elsewhere is about nobody.
func (c *cluster) put(at stand, h *schemas.Headers) {
	key := partOf(at.topic, at.partition)
	for int64(len(c.records[key])) <= at.offset {
		c.records[key] = append(c.records[key], c.record(at, &schemas.Headers{Source: "nobody", MessageID: "none", Destination: "d0"}))
	}
	c.records[key][at.offset] = c.record(at, h)
}

// write puts the history onto topics, and has groups be where it says.
func (c *cluster) write(t *testing.T) {
	t.Helper()
	waits := make(map[string][]int64)
	for _, call := range c.calls {
		c.put(stand{schemas.TopicRawEvents, call.partition, call.offset}, call.headers(""))
		if call.letter {
			h := call.headers("")
			h.From = schemas.Position{Topic: schemas.TopicRawEvents, Partition: call.partition, Offset: call.offset}
			c.put(c.stand(schemas.TopicDeadLetters), h)
		}
		for i, w := range call.ways {
			for ; w != nil; w = w.again {
				h := call.headers(call.decisions[i].Destination)
				for _, a := range w.attempts {
					c.put(a.stand, h)
				}
				if w.waits != nil {
					c.put(*w.waits, h)
					key := partOf(w.waits.topic, w.waits.partition)
					waits[key] = append(waits[key], w.waits.offset)
				}
				if w.letter != nil {
					c.put(*w.letter, h)
				}
			}
		}
	}
	for _, all := range c.records {
		c.produce(t, all...)
	}
	c.mark(t)
	c.tellJournal(t)
	c.commit(t, waits)
}

func (c *call) headers(destination string) *schemas.Headers {
	return &schemas.Headers{Source: c.source, MessageID: c.id, Destination: destination, Reason: schemas.ReasonStatus4xx, Received: c.received}
}

func (c *cluster) produce(t *testing.T, all ...*kgo.Record) {
	t.Helper()
	if err := c.client.ProduceSync(t.Context(), all...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// mark says which dead letters were redriven.
func (c *cluster) mark(t *testing.T) {
	t.Helper()
	for _, call := range c.calls {
		for _, w := range call.ways {
			for ; w != nil && w.again != nil; w = w.again {
				l := &deadletters.Letter{ID: deadletters.ID{Partition: w.letter.partition, Offset: w.letter.offset}, Record: &kgo.Record{Timestamp: time.Now()}}
				m, err := deadletters.Mark(l, time.Now(), false)
				if err != nil {
					t.Fatal(err)
				}
				c.produce(t, m)
			}
		}
	}
}

// tellJournal writes what the stages tell.
func (c *cluster) tellJournal(t *testing.T) {
	t.Helper()
	c.keep = func(head *format.Head, value []byte) {
		r := journal.Record(head, value)
		r.Partition %= partitions
		c.produce(t, r)
	}
	c.entries()
}

// commit has the router's group be behind what is routed, and the sink's before what waits.
func (c *cluster) commit(t *testing.T, waits map[string][]int64) {
	t.Helper()
	admin := kadm.NewClient(c.client)
	var routed, taken kadm.Offsets
	for num, of := range c.ledger().raw {
		routed.Add(kadm.Offset{Topic: schemas.TopicRawEvents, Partition: num, At: of.routed})
	}
	for key, all := range c.records {
		topic, number, _ := strings.Cut(strings.TrimSuffix(key, "]"), "[")
		if schemas.PrefixOf(topic) == "" {
			continue
		}
		at, left := int64(len(all)), waits[key]
		if len(left) > 0 {
			at = slices.Min(left)
		}
		metadata, err := json.Marshal(left)
		if err != nil {
			t.Fatal(err)
		}
		taken.Add(kadm.Offset{Topic: topic, Partition: int32(number[0] - '0'), At: at, Metadata: string(metadata)})
	}
	for group, offsets := range map[string]kadm.Offsets{"anabranch-test-router": routed, "anabranch-test-sink": taken} {
		if err := admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
			t.Fatal(err)
		}
	}
}

func (c *cluster) settings() Settings {
	return Settings{
		Kafka: c.Options(), Topics: c.admin, Stages: stages(), Retention: 30 * 24 * time.Hour,
		From: c.began.Add(-time.Minute), To: c.began.Add(time.Minute), Settle: 10 * time.Second,
	}
}

func (c *cluster) audit(t *testing.T, set Settings) *Report {
	t.Helper()
	r, err := Run(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAnAudit: what stands on topics, with holes in it, is reported as it is.
func TestAnAudit(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 3)
	c.live(300)
	holes := 0
	for holes < 12 {
		if c.plant() != "" {
			holes++
		}
	}
	for i := range 10 {
		c.calls[len(c.calls)-1-i].unrouted = true
	}
	c.keepOrder()
	c.write(t)
	got := c.audit(t, c.settings())
	rows, missing := c.want()
	if diff := gocmp.Diff(rows, got.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	byName := cmpopts.SortSlices(func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.MessageID, b.MessageID), cmp.Compare(a.Destination, b.Destination))
	})
	if diff := gocmp.Diff(missing, got.Missing, byName, cmpopts.IgnoreFields(Missing{}, "LastSeen")); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if len(got.Unknown) > 0 || got.Outcome() != SomeLost {
		t.Errorf("outcome %d, not known: %v", got.Outcome(), got.Unknown)
	}
}

// TestACallThatWasTakenLongAgo was redriven onto raw-events, or imported, and waits like any
// other.
func TestACallThatWasTakenLongAgo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4)
	c.live(100)
	for _, call := range c.calls {
		call.received = c.began.Add(-30 * time.Hour)
	}
	c.write(t)
	got := c.audit(t, c.settings())
	rows, _ := c.want()
	if diff := gocmp.Diff(rows, got.Rows); diff != "" || got.Outcome() != AddsUp {
		t.Errorf("outcome %d, missing %v, rows (-want +got):\n%s", got.Outcome(), got.Missing, diff)
	}
}

// TestReplaysAreCountedApart: what a replay has delivered, given up or still has before it
// makes no live event that is missing up.
func TestReplaysAreCountedApart(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 5)
	c.live(200)
	for holes := 0; holes < 8; {
		if c.plant() != "" {
			holes++
		}
	}
	c.keepOrder()
	c.write(t)
	lane := schemas.ReplayTopic("d0")
	c.CreateTopics(t, 1, lane)
	h := format.Head{Stage: "webhook-sink", Topic: lane, KeyID: c.keyID, Base: time.Now(), Next: 1000}
	var told format.Attempts
	replayed := int64(0)
	for i, call := range c.calls {
		headers := call.headers("d0")
		headers.Run, headers.Origin = "run", schemas.OriginReplay
		one := format.Attempt{
			Offset: int64(i), Fingerprint: call.fingerprint, Destination: "d0", Source: call.source,
			Outcome: format.Outcome(1 + i%5), Endpoints: 1, Number: 1, At: c.began, Run: "run", Topic: retryTopic,
		}
		told.Add(&one)
		switch one.Outcome {
		case format.Delivered:
			replayed++
		case format.Dead:
			c.produce(t, c.record(stand{topic: schemas.TopicDeadLetters}, headers))
		case format.Retried:
			c.produce(t, c.record(stand{topic: retryTopic}, headers))
		default:
			c.produce(t, c.record(stand{topic: lane}, headers))
		}
	}
	h.Lost = 3
	c.produce(t, journal.Record(&h, told.Append(nil, &h)))
	got := c.audit(t, c.settings())
	if n := got.Total().Replayed; n != replayed {
		t.Errorf("%d deliveries of replays, expected %d", n, replayed)
	}
	for i := range got.Rows {
		got.Rows[i].Replayed = 0
	}
	rows, missing := c.want()
	got.Rows = slices.DeleteFunc(got.Rows, func(r Row) bool { return r == Row{Source: r.Source, Destination: r.Destination} })
	if diff := gocmp.Diff(rows, got.Rows); diff != "" || len(got.Missing) != len(missing) || len(got.Unknown) > 0 {
		t.Errorf("%d missing, expected %d; not known: %v; rows (-want +got):\n%s", len(got.Missing), len(missing), got.Unknown, diff)
	}
}

// TestWhatIsNotKnown: of a range that nothing is missing of it is still not said that it adds
// up, where the journal was off, is of another topic, was cut, or could not be written.
func TestWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	const extra = 1 << 12 // an offset that no record of the journal speaks for
	attempts := func(change func(*format.Head)) func(*testing.T, *history, *ledger) {
		return func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			head := format.Head{Stage: "webhook-sink", Topic: schemas.DeliverTopic("d0"), Next: 1, KeyID: h.keyID, Base: h.began}
			change(&head)
			if err := h.decoded(&head, new(format.Attempts).Append(nil, &head))(l); err != nil {
				t.Fatal(err)
			}
			h.tell(t, l)
		}
	}
	for name, c := range map[string]struct {
		cause Cause
		tell  func(*testing.T, *history, *ledger)
	}{
		"the router kept no journal": {NotJournalled, func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			h.tell(t, l)
			l.call(0, extra, h.began, func() (string, string) { return "web", "m-extra" })
		}},
		"a sink kept no journal": {NotJournalled, func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			h.calls[0].result, h.calls[0].letter = format.Routed, false
			h.calls[0].decisions, h.calls[0].ways = []format.Decision{{Destination: "new", Result: format.Sent}}, []*way{{}}
			h.tell(t, l)
		}},
		"the journal of a sink was cut": {NotJournalled, func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			for h.plant() != "deliver" {
				*h = *newHistory(h.Uint64(), 100)
			}
			*l = *h.ledger()
			l.cutUntil = h.began.Add(time.Hour)
			h.tell(t, l)
		}},
		"raw-events was cut": {Deleted, func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			l.raw[1].cut, l.raw[1].Start = true, 1
			h.tell(t, l)
		}},
		"a call is gone": {NoCall, func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			l.raw[2].tell(extra)
			h.tell(t, l)
		}},
		"raw-events was made again": {OtherKey, attempts(func(head *format.Head) { head.KeyID++ })},
		"a sink could not write it": {Unwritten, attempts(func(head *format.Head) { head.Lost = 3 })},
		"dead letters may be missed": {LettersGone, func(t *testing.T, h *history, l *ledger) {
			t.Helper()
			for h.plant() != "letter" {
				*h = *newHistory(h.Uint64(), 100)
			}
			*l = *h.ledger()
			l.lettersCut = true
			h.tell(t, l)
		}},
	} {
		h := newHistory(11, 100)
		l := h.ledger()
		for num := range l.raw {
			l.raw[num] = newCalls(ranges.Range{End: 2 * extra}, 2*extra)
		}
		c.tell(t, h, l)
		r := new(Report)
		r.Rows, r.Missing, r.Unknown = l.result()
		l.piles.Close()
		if len(r.Unknown) != 1 || r.Unknown[0].Cause != c.cause || r.Outcome() != NotAllSaid || r.Err() == nil {
			t.Errorf("%s: outcome %d, not known: %v, missing: %v", name, r.Outcome(), r.Unknown, r.Missing)
		}
	}
}

// TestAGlance: the journal alone tells how calls ended, and which may be waiting, or missing.
func TestAGlance(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 5)
	c.live(200)
	c.write(t)
	got, err := Look(t.Context(), c.Options(), c.admin, c.began.Add(-time.Minute), c.began.Add(time.Minute), time.Minute)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	rows, _ := c.want()
	want := &Report{Rows: rows}
	sum := want.Total()
	if got.Accepted != sum.Accepted || got.Delivered != sum.Delivered || got.Filtered != sum.Filtered || got.Duplicate != sum.Duplicate ||
		got.Unconnected != sum.Unconnected || got.Dead+got.OnTheWay != sum.Dead+sum.Waiting || !got.Complete {
		t.Errorf("%+v, want the sums of %+v", got, sum)
	}
}
