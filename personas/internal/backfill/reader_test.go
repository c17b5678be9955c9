package backfill

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

func settings(t *testing.T, c *testkit.Cluster) Settings {
	t.Helper()
	return Settings{
		Logger: slog.New(slog.DiscardHandler), Kafka: c.Options(), Topics: topics.New(c.Client(t), policy.Config{}), Window: time.Hour,
		Ready: func(int32) {}, Failed: func(err error) { t.Error(err) },
	}
}

// TestParts reads up to the cut and no further, and waits for what is open before it.
func TestParts(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicRawEvents)
	writer := c.Client(t, kgo.TransactionalID("anabranch-test-writer"))
	write := func(value string) {
		if err := writer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := writer.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Value: []byte(value)}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	commit := func() {
		if err := writer.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
	write("a")
	commit()
	write("b")
	const cut = 3 // behind b, whose transaction is open
	r := New(settings(t, c))
	defer r.Close()
	var got []string
	from, begin := int64(-1), int64(-1)
	step := func() bool {
		part := r.Part(0, from, cut, time.UnixMilli(1), 1<<20)
		if part == nil {
			return false
		}
		for _, rec := range part.Records {
			got = append(got, string(rec.Value))
		}
		if begin < 0 {
			begin = part.Begin
		}
		from = part.Next
		return true
	}
	testkit.Until(t, func() bool { step(); return len(got) == 1 }, "what is committed")
	if from >= cut || begin != 0 {
		t.Errorf("read up to %d from %d, though a transaction is open", from, begin)
	}
	commit()
	write("c")
	commit()
	testkit.Until(t, func() bool { step(); return from == cut }, "the cut")
	if len(got) != 2 || got[1] != "b" {
		t.Errorf("read %q", got)
	}
}

// TestTwoBackfills of one partition, of which the first finds that there is nothing that is
// young enough: the second is not told the same.
func TestTwoBackfills(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicRawEvents)
	const cut = 1
	if err := c.Client(t).ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Value: []byte("a")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	r := New(settings(t, c))
	defer r.Close()
	begin := func(since time.Time) (at int64) {
		testkit.Until(t, func() bool {
			part := r.Part(0, -1, cut, since, 1<<20)
			if part != nil {
				at = part.Begin
			}
			return part != nil
		}, "the begin")
		return at
	}
	if at := begin(time.Now().Add(time.Hour)); at != cut {
		t.Errorf("the first begins at %d, want %d", at, cut)
	}
	if at := begin(time.Time{}); at != 0 {
		t.Errorf("the second begins at %d, want 0", at)
	}
}

// TestTheRestOfAPart is there at once for who folds a part in steps, and all of it is there
// again for who has to begin once more.
func TestTheRestOfAPart(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicRawEvents)
	const cut = 5
	for range cut {
		if err := c.Client(t).ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Value: []byte("a")}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	r := New(settings(t, c))
	defer r.Close()
	offsets := func(from int64) (all []int64) {
		if part := r.Part(0, from, cut, time.Time{}, 1<<20); part != nil {
			for _, rec := range part.Records {
				all = append(all, rec.Offset)
			}
		}
		return all
	}
	testkit.Until(t, func() bool { return len(offsets(0)) > 0 }, "the first part")
	for _, from := range []int64{2, 4, 1} {
		all := offsets(from)
		if len(all) != cut-int(from) || all[0] != from {
			t.Errorf("from %d on there are %v", from, all)
		}
	}
}

// TestAReadThatHangs keeps no other from being read, and whoever had to wait for all of them
// has as much time as ever.
func TestAReadThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		const partitions = 6
		c.CreateTopics(t, partitions, schemas.TopicRawEvents)
		cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
		for num := range int32(partitions) {
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Partition: num, Value: []byte("a")}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		set := settings(t, c)
		set.Window = 0
		r := New(set)
		defer r.Close()
		read := func() (n int) {
			for num := range int32(partitions) {
				if r.Part(num, 0, 1, time.Time{}, 1<<20) != nil {
					n++
				}
			}
			return n
		}
		for range turns {
			r.turns <- struct{}{} // who hangs
		}
		read()
		virtual.Sleep(2 * fetchTime)
		if n := read(); n > 0 {
			t.Errorf("%d partitions were read out of turn", n)
		}
		<-r.turns
		virtual.Sleep(time.Second)
		if n := read(); n != partitions {
			t.Errorf("%d partitions of %d were read while one hung", n, partitions)
		}
	})
}

// TestAPartitionThatHasGone is not read when its turn comes.
func TestAPartitionThatHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		c.CreateTopics(t, 1, schemas.TopicRawEvents)
		var fetched atomic.Bool
		c.Fake.ControlKey(kmsg.Fetch.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
			fetched.Store(true)
			return nil, nil, false
		})
		r := New(settings(t, c))
		defer r.Close()
		for range turns {
			r.turns <- struct{}{}
		}
		r.Part(0, 0, 1, time.Time{}, 1<<20)
		r.Forget(0)
		for range turns {
			<-r.turns
		}
		virtual.Sleep(time.Second)
		if fetched.Load() {
			t.Error("it was read")
		}
	})
}
