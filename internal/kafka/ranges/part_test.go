package ranges_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// values reads a partition part by part.
func values(t *testing.T, cl *kgo.Client, topic string, from, end int64) (all []string, parts int) {
	t.Helper()
	for from < end {
		part, err := ranges.Fetch(t.Context(), cl, topic, 0, from, 4<<10)
		if err != nil {
			t.Fatal(err)
		}
		if part.Next <= from {
			t.Fatalf("no way forward at %d of %d", from, end)
		}
		for _, r := range part.Records {
			if r.Offset < from || r.Offset >= part.Next || r.Topic != topic {
				t.Fatalf("record %s@%d in the part from %d to %d", r.Topic, r.Offset, from, part.Next)
			}
			all = append(all, string(r.Value))
		}
		from = part.Next
		parts++
	}
	return all, parts
}

// transactions writes sixty of five records and a marker, of which each third is
// aborted, and returns what was committed.
func transactions(t *testing.T, c *testkit.Cluster, topic string) (committed []string) {
	t.Helper()
	cl := c.Client(t, kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	for n := range 60 {
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		end := kgo.TransactionEndTry(n%3 != 0)
		for i := range 5 {
			value := fmt.Sprint(n, "-", i, strings.Repeat("x", 400))
			if end == kgo.TryCommit {
				committed = append(committed, value)
			}
			if err := cl.ProduceSync(t.Context(), kgo.StringRecord(value)).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		if err := cl.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	return committed
}

func TestPartsOfAPartition(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.DeliverTopic("parts"))
	cl := c.Client(t)
	want := transactions(t, c, schemas.DeliverTopic("parts"))
	const end = 60 * 6
	got, parts := values(t, cl, schemas.DeliverTopic("parts"), 0, end)
	if diff := strings.Join(got, "\n") != strings.Join(want, "\n"); diff || parts < 3 {
		t.Errorf("%d records in %d parts, want %d of committed transactions in some more", len(got), parts, len(want))
	}
	if part, err := ranges.Fetch(t.Context(), cl, schemas.DeliverTopic("parts"), 0, 14, 1); err != nil || len(part.Records) == 0 && part.Next <= 14 {
		t.Errorf("a part smaller than a batch: %+v, %v", part, err)
	}
	part, err := ranges.Fetch(t.Context(), cl, schemas.DeliverTopic("parts"), 0, end, 4<<10)
	if err != nil || len(part.Records) > 0 || part.Next != end || part.Deleted {
		t.Errorf("behind the end: %+v, %v", part, err)
	}
}

func TestAPartThatWasDeleted(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.DeliverTopic("deleted"))
	transactions(t, c, schemas.DeliverTopic("deleted"))
	cl := c.Client(t)
	var to kadm.Offsets
	to.Add(kadm.Offset{Topic: schemas.DeliverTopic("deleted"), At: 100})
	if deleted, err := kadm.NewClient(cl).DeleteRecords(t.Context(), to); err != nil || deleted.Error() != nil {
		t.Fatal(err, deleted.Error())
	}
	if part, err := ranges.Fetch(t.Context(), cl, schemas.DeliverTopic("deleted"), 0, 50, 4<<10); err != nil || !part.Deleted || part.Next != 100 {
		t.Errorf("where records were deleted: %+v, %v", part, err)
	}
	if part, err := ranges.Fetch(t.Context(), cl, schemas.DeliverTopic("deleted"), 0, 1000, 4<<10); err == nil {
		t.Errorf("beyond the end: %+v, want an error", part)
	}
}

func TestAPartThatCannotBeHad(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	cl := c.Client(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if part, err := ranges.Fetch(ctx, cl, "missing", 0, 0, 1<<10); err == nil || !strings.Contains(err.Error(), "fetch missing[0] from 0: ") {
		t.Errorf("of a missing topic: %+v, %v", part, err)
	}
	c.CreateTopics(t, 1, schemas.DeliverTopic("small"))
	if part, err := ranges.Fetch(ctx, cl, schemas.DeliverTopic("small"), 7, 0, 1<<10); err == nil {
		t.Errorf("of a missing partition: %+v", part)
	}
}
