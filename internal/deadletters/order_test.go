package deadletters_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/deadletters/internal/dltest"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// gaveUp returns the dead letter of the i-th event, given up i seconds after a time
// long past.
func gaveUp(i int) *kgo.Record {
	h := dltest.Headers(i, "crm", schemas.ReasonStatus4xx)
	return kafka.DeadLetter(dltest.Event(h), h, time.Unix(1e9+int64(i), 0))
}

// messages are the messageIds of a view, in its order.
func messages(t *testing.T, view *deadletters.View) []string {
	t.Helper()
	var got []string
	if err := view.Each(t.Context(), func(l *deadletters.Letter) error {
		got = append(got, l.Headers.MessageID)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestTheOldestComesFirst, whichever partition it stands in: more of them than a
// reader is handed at a time.
func TestTheOldestComesFirst(t *testing.T) {
	t.Parallel()
	y, _ := newYard(t)
	y.Ensure(t, schemas.TopicDeadLetters)
	var records []*kgo.Record
	var want []string
	for i := range 5_000 {
		records = append(records, gaveUp(i))
		want = append(want, fmt.Sprint("m", i))
	}
	y.Bury(t, records...)
	partitions := map[int32]int{}
	for _, r := range records {
		partitions[r.Partition]++
	}
	if len(partitions) != dltest.Partitions {
		t.Fatalf("written to %d partitions, want %d", len(partitions), dltest.Partitions)
	}
	if got := messages(t, open(t, y, deadletters.Selection{})); !slices.Equal(got, want) {
		t.Errorf("%d dead letters, want %d in the order of time; the first are %v", len(got), len(want), got[:min(len(got), 10)])
	}
}

// TestALateLetterStandsWhereItArrived: a partition is not sorted, which would take
// all of it in memory.
func TestALateLetterStandsWhereItArrived(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	y := dltest.New(t, c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner())), c.Options())
	y.Ensure(t, schemas.TopicDeadLetters)
	for _, each := range []struct {
		i         int
		partition int32
	}{{5, 0}, {1, 0}, {2, 1}, {8, 1}} {
		r := gaveUp(each.i)
		r.Partition = each.partition
		y.Bury(t, r)
	}
	if got := messages(t, open(t, y, deadletters.Selection{})); !slices.Equal(got, []string{"m2", "m5", "m1", "m8"}) {
		t.Errorf("found %v", got)
	}
}

func TestAnErrorOfYieldEndsTheReading(t *testing.T) {
	t.Parallel()
	y, _ := newYard(t)
	for i := range 4 {
		y.Die(t, dltest.Headers(i, "crm", schemas.ReasonStatus4xx))
	}
	full, calls := errors.New("no space left"), 0
	err := open(t, y, deadletters.Selection{}).Each(t.Context(), func(*deadletters.Letter) error {
		calls++
		return full
	})
	if !errors.Is(err, full) || calls != 1 {
		t.Errorf("error %v after %d calls, want %v after one", err, calls, full)
	}
}
