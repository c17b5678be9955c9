package ranges_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// spansOf are all that a topic holds.
func spansOf(t *testing.T, c *testkit.Cluster, topic string) []*ranges.Span {
	t.Helper()
	held, err := ranges.List(t.Context(), c.Client(t), topic, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return ranges.Spans(topic, held)
}

// read reads spans without a limit but time, and returns what it was handed.
func read(t *testing.T, c *testkit.Cluster, spans []*ranges.Span, limits ranges.Limits) (got []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := ranges.Read(ctx, c.Options(), spans, limits, func(s *ranges.Span, r *kgo.Record) error {
		if r.Topic != s.Topic || r.Partition != s.Partition || r.Offset < s.Next {
			t.Errorf("%s[%d]@%d is handed out for %+v", r.Topic, r.Partition, r.Offset, s)
		}
		got = append(got, string(r.Value))
		return nil
	})
	if err != nil {
		t.Errorf("read: %v", err)
	}
	return got
}

// TestReadSeesWhatIsCommitted, and reads to the end though that is a marker.
func TestReadSeesWhatIsCommitted(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("committed")
	c.CreateTopics(t, 1, topic)
	want := transactions(t, c, topic)
	spans := spansOf(t, c, topic)
	if diff := cmp.Diff(want, read(t, c, spans, ranges.Limits{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := spans[0]; !s.Done() || s.Records != len(want) || s.Deleted != 0 {
		t.Errorf("read: %+v", s)
	}
}

// TestSpansOfOnePartition: groups that read the same topic are not equally far.
func TestSpansOfOnePartition(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("shared")
	c.CreateTopics(t, 1, topic)
	for i := range 5 {
		if err := c.Client(t).ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: fmt.Append(nil, i)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	behind := &ranges.Span{Topic: topic, Next: 1, End: 5}
	ahead := &ranges.Span{Topic: topic, Next: 3, End: 4}
	got := read(t, c, []*ranges.Span{ahead, behind}, ranges.Limits{})
	slices.Sort(got)
	if diff := cmp.Diff([]string{"1", "2", "3", "3", "4"}, got); diff != "" {
		t.Errorf("handed out (-want +got):\n%s", diff)
	}
	if !behind.Done() || !ahead.Done() || behind.Records != 4 || ahead.Records != 1 {
		t.Errorf("read: %+v and %+v", behind, ahead)
	}
}

// TestReadStopsBeforeAnOpenTransaction, and past what was aborted there: the marker
// that says so stands behind the end.
func TestReadStopsBeforeAnOpenTransaction(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("open")
	c.CreateTopics(t, 1, topic)
	begin := func(id, value string) *kgo.Client {
		cl := c.Client(t, kgo.TransactionalID(id), kgo.DefaultProduceTopic(topic))
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := cl.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		return cl
	}
	c.Fill(t, topic, 0, 2)
	aborted, open := begin("aborted", "a"), begin("open", "b")
	if err := aborted.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	var spans []*ranges.Span
	testkit.Until(t, func() bool {
		spans = spansOf(t, c, topic)
		return spans[0].End == 3
	}, "the range to end before the open transaction")
	if got := read(t, c, spans, ranges.Limits{Patience: 20 * time.Second}); len(got) != 2 || !spans[0].Done() {
		t.Errorf("read %q of %+v", got, spans[0])
	}
	if err := open.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
}

// TestReadWithinLimits: each span has its share, and all together theirs.
func TestReadWithinLimits(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("limits")
	c.CreateTopics(t, 3, topic)
	for num, n := range []int{5, 2, 9} {
		c.Fill(t, topic, int32(num), n)
	}
	spans := spansOf(t, c, topic)
	read(t, c, spans, ranges.Limits{PerSpan: 4})
	for num, left := range []int64{1, 0, 5} {
		if s := spans[num]; s.Left() != left || s.Done() != (left == 0) {
			t.Errorf("partition %d: %+v, want %d left", num, s, left)
		}
	}
	// Whoever keeps the spans goes on from there.
	for _, s := range spans {
		s.Records = 0
	}
	if got := read(t, c, spans, ranges.Limits{}); len(got) != 6 || spans[2].Left() != 0 {
		t.Errorf("read %d more, want 6", len(got))
	}
	if got := read(t, c, spansOf(t, c, topic)[:1], ranges.Limits{Total: 1}); len(got) < 1 {
		t.Error("nothing was read")
	}
}

// TestReadEndsWithTheFirstError, and the record is read again.
func TestReadEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("errors")
	c.CreateTopics(t, 1, topic)
	c.Fill(t, topic, 0, 5)
	spans := spansOf(t, c, topic)
	enough := errors.New("enough")
	err := ranges.Read(t.Context(), c.Options(), spans, ranges.Limits{}, func(_ *ranges.Span, r *kgo.Record) error {
		if r.Offset == 3 {
			return fmt.Errorf("at %d: %w", r.Offset, enough)
		}
		return nil
	})
	if !errors.Is(err, enough) || spans[0].Next != 3 || spans[0].Records != 3 {
		t.Errorf("%v, and %+v", err, spans[0])
	}
}

// TestWhatIsDeletedIsCounted: before it is read, all of it, and with its topic.
func TestWhatIsDeletedIsCounted(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	topic := schemas.DeliverTopic("gone")
	c.CreateTopics(t, 1, topic)
	c.Fill(t, topic, 0, 5)
	for _, to := range []int64{3, 5} {
		spans := []*ranges.Span{{Topic: topic, Next: 0, End: 5}}
		c.DeleteBefore(t, topic, to)
		if got := read(t, c, spans, ranges.Limits{}); len(got) != int(5-to) || spans[0].Deleted != to || !spans[0].Done() {
			t.Errorf("read %d of %+v, want the rest and %d deleted", len(got), spans[0], to)
		}
	}
	spans := []*ranges.Span{{Topic: schemas.DeliverTopic("never"), Next: 2, End: 5}}
	if got := read(t, c, spans, ranges.Limits{}); len(got) != 0 || spans[0].Deleted != 3 {
		t.Errorf("of a topic that is gone: %d of %+v", len(got), spans[0])
	}
}

// TestReadPastWhatWasCompacted: a range may end where no record is left.
func TestReadPastWhatWasCompacted(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	c.CreateTopics(t, 1, schemas.TopicWorkspace)
	c.Fill(t, schemas.TopicWorkspace, 0, 4)
	c.EndLater(schemas.TopicWorkspace, 3)
	spans := spansOf(t, c, schemas.TopicWorkspace)
	if got := read(t, c, spans, ranges.Limits{}); len(got) != 4 || spans[0].Next != 7 || spans[0].Deleted != 0 {
		t.Errorf("read %d of %+v", len(got), spans[0])
	}
}

// TestPatienceEnds: what lies beyond the end of the log never comes, nor does what is of a
// topic that no broker knows.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t, kfake.NumBrokers(1))
	topic := schemas.DeliverTopic("short")
	c.CreateTopics(t, 1, topic)
	c.Fill(t, topic, 0, 2)
	for want, span := range map[string]*ranges.Span{
		"read deliver.short[0]@2: no record arrived for 1.5s": {Topic: topic, Next: 0, End: 9},
		"read deliver.never[0]@2: no record arrived for 1.5s": {Topic: schemas.DeliverTopic("never"), Next: 2, End: 9},
	} {
		err := ranges.Read(t.Context(), c.Options(), []*ranges.Span{span}, ranges.Limits{Patience: 1500 * time.Millisecond}, func(*ranges.Span, *kgo.Record) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("read: %v, want %s", err, want)
		}
	}
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	c := testkit.Brokers(t)
	err := ranges.Read(ctx, c.Options(), []*ranges.Span{{Topic: "t", End: 1}}, ranges.Limits{}, nil)
	if !errors.Is(err, stopped) {
		t.Errorf("read: %v", err)
	}
	if err = ranges.Read(ctx, nil, []*ranges.Span{{Topic: "t", Next: 1, End: 1}}, ranges.Limits{}, nil); err != nil {
		t.Errorf("of nothing: %v", err)
	}
	if err = ranges.Read(t.Context(), []kgo.Opt{kgo.SeedBrokers()}, []*ranges.Span{{Topic: "t", End: 1}}, ranges.Limits{}, nil); err == nil {
		t.Error("unusable options are no error")
	}
}
