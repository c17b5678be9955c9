package status

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// record is one on a topic, with headers.
func record(topic string, offset int64, h schemas.Headers) *kgo.Record {
	r := &kgo.Record{Topic: topic, Offset: offset, Timestamp: noon.Add(-time.Second), Value: []byte(`{}`)}
	kafka.SetHeaders(r, &h)
	return r
}

// tallied adds records to a tally, of which the sink has done those at the offsets.
func tallied(records []*kgo.Record, done ...int64) *tally {
	t := newTally(noon)
	for _, r := range records {
		s := &span{Span: ranges.Span{Topic: r.Topic, Partition: r.Partition}, done: func(r *kgo.Record) bool { return slices.Contains(done, r.Offset) }}
		if r.Topic != schemas.TopicDeadLetters {
			s.reader = "stage"
		}
		t.add(s, r)
	}
	t.redriven()
	return t
}

func TestWhatWaitsIsCountedByItsTopic(t *testing.T) {
	t.Parallel()
	ago := func(d time.Duration) time.Time { return noon.Add(-d) }
	retry := func(offset int64, h schemas.Headers) *kgo.Record {
		h.Destination = "crm"
		return record(schemas.RetryTopic(30*time.Second), offset, h)
	}
	got := tallied([]*kgo.Record{
		record(schemas.TopicRawEvents, 0, schemas.Headers{}),
		record(schemas.DeliverTopic("crm"), 0, schemas.Headers{Received: ago(time.Minute)}),
		record(schemas.DeliverTopic("crm"), 1, schemas.Headers{Received: ago(time.Hour)}),
		record(schemas.DeliverTopic("crm"), 7, schemas.Headers{Received: ago(2 * time.Hour)}), // done
		retry(0, schemas.Headers{Received: ago(3 * time.Hour), FirstAttempt: ago(2 * time.Hour), Due: ago(-time.Minute), Reason: schemas.ReasonTimeout, Detail: "younger", Endpoints: []uint64{5}}),
		retry(1, schemas.Headers{FirstAttempt: ago(time.Hour), Due: ago(2 * time.Minute), Reason: schemas.ReasonTimeout, Detail: "older", Withheld: 1}),
		retry(2, schemas.Headers{Due: noon}),
		record(schemas.RetryTopic(30*time.Second), 3, schemas.Headers{}), // of no destination
	}, 7)
	if unrouted := got.unread[unreadKey{"stage", schemas.TopicRawEvents}]; unrouted != (count{1, ago(time.Second)}) {
		t.Errorf("unrouted %+v", unrouted)
	}
	want := &destinationTally{
		undelivered: count{2, ago(time.Hour)}, retrying: count{3, ago(3 * time.Hour)}, withheld: 1, failingSince: ago(2 * time.Hour),
		failures:  map[schemas.Reason]*Failure{schemas.ReasonTimeout: {Reason: schemas.ReasonTimeout, Detail: "younger", Events: 2}},
		endpoints: map[uint64]int64{5: 1}, everywhere: 2, due: [6]int64{2, 1},
	}
	if diff := cmp.Diff(want, got.destinations["crm"], cmp.AllowUnexported(destinationTally{}, count{}), cmpopts.IgnoreUnexported(Failure{})); diff != "" {
		t.Errorf("crm (-want +got):\n%s", diff)
	}
	if r := got.retries[30*time.Second]; r.waiting != (count{4, ago(3 * time.Hour)}) || r.overdue != 2 {
		t.Errorf("on the retry topic %+v: the record without a due time was due long ago", r)
	}
}

func TestUnreadableRecordsWaitToo(t *testing.T) {
	t.Parallel()
	r := record(schemas.DeliverTopic("crm"), 0, schemas.Headers{})
	r.Headers = []kgo.RecordHeader{{Key: "attempt", Value: []byte("many")}}
	if got := tallied([]*kgo.Record{r}).destinations["crm"]; got.undelivered.events != 1 {
		t.Errorf("%+v", got)
	}
}

func TestDeadLettersAreCountedByReason(t *testing.T) {
	t.Parallel()
	dead := func(offset int64, reason schemas.Reason, at time.Time, detail string) *kgo.Record {
		return record(schemas.TopicDeadLetters, offset, schemas.Headers{Destination: "crm", Reason: reason, FailedAt: at, Detail: detail})
	}
	mark := func(offset int64, at time.Time) *kgo.Record {
		r, err := deadletters.Mark(&deadletters.Letter{ID: deadletters.ID{Offset: offset}, Record: &kgo.Record{}}, at, false)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	broken := &kgo.Record{Topic: schemas.TopicRedriven, Key: []byte("?")}
	got := tallied([]*kgo.Record{
		mark(1, noon), // before the letter that it is about
		dead(1, schemas.ReasonTLS, noon.Add(-time.Hour), "first"),
		dead(2, schemas.ReasonTLS, noon, "last"),
		dead(3, schemas.ReasonTLS, noon.Add(-time.Minute), "between"),
		mark(3, noon.Add(-24*time.Hour)), // about another topic of the name
		mark(9, noon), broken,
		dead(4, schemas.ReasonTimeout, noon, ""),
		record(schemas.TopicDeadLetters, 5, schemas.Headers{}),
	})
	want := []DeadGroup{
		{First: noon.Add(-time.Second), Last: noon.Add(-time.Second), Events: 1},
		{Destination: "crm", Reason: schemas.ReasonTimeout, Events: 1, First: noon, Last: noon},
		{Destination: "crm", Reason: schemas.ReasonTLS, Events: 3, Redriven: 1, First: noon.Add(-time.Hour), Last: noon, Detail: "last"},
	}
	if diff := cmp.Diff(want, deadGroups(got)); diff != "" {
		t.Errorf("dead letters (-want +got):\n%s", diff)
	}
}
