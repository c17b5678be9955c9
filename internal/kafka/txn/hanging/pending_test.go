package hanging

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const pendingGroup = "anabranch-pending"

// raw is an offset of a partition of raw-events.
func raw(num int32, offset int64) map[kafka.Partition]int64 {
	return map[kafka.Partition]int64{{Topic: schemas.TopicRawEvents, Num: num}: offset}
}

// open leaves a transaction open that has committed an offset for raw-events.
func (u *Unfinished) open(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	cl, err := u.producer(append(c.Options(), kgo.TransactionalID(u.TransactionalID)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	id, epoch, err := cl.ProducerID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err = u.takePart(t.Context(), cl, id, epoch); err != nil {
		t.Fatal(err)
	}
	if err = u.commit(t.Context(), cl, id, epoch); err != nil {
		t.Fatal(err)
	}
}

// TestFinish: what a transaction has left pending ends with the next one of the same
// id, and is as if it had been committed where that is known.
func TestFinish(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decided map[kafka.Partition]int64
		want    map[int32]groups.Lag
	}{
		"known to be committed": {raw(1, 3), map[int32]groups.Lag{0: {}, 1: {Committed: 3, End: 4}}},
		"not known":             {nil, map[int32]groups.Lag{0: {}, 1: {Committed: 1, End: 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := testkit.Brokers(t)
			cluster.CreateTopics(t, 2, schemas.TopicRawEvents)
			cluster.Fill(t, schemas.TopicRawEvents, 1, 4)
			cl := cluster.Client(t)
			u := Unfinished{TransactionalID: "anabranch-router-x", Group: pendingGroup, Offsets: raw(1, 1), Commit: true}
			if err := u.Finish(t.Context(), cluster.Options()); err != nil {
				t.Fatal(err)
			}
			u.Offsets = raw(1, 3)
			u.open(t, cluster)
			pending, err := Pending(t.Context(), cl, pendingGroup, schemas.TopicRawEvents)
			if before, found := pending[1]; err != nil || !found || before != 1 {
				t.Fatalf("pending %v, error %v, want what was committed before", pending, err)
			}

			u.Offsets, u.Commit = c.decided, c.decided != nil
			if err = u.Finish(t.Context(), cluster.Options()); err != nil {
				t.Fatal(err)
			}
			testkit.Until(t, func() bool {
				pending, err = Pending(t.Context(), cl, pendingGroup, schemas.TopicRawEvents)
				return err == nil && len(pending) == 0
			}, "nothing to be pending")
			lag, err := groups.Lags(t.Context(), cl, pendingGroup, schemas.TopicRawEvents)
			if diff := cmp.Diff(c.want, lag[schemas.TopicRawEvents]); err != nil || diff != "" {
				t.Errorf("lag, error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestPendingBeforeAnyCommit: the first that a group commits of a partition is
// pending too.
func TestPendingBeforeAnyCommit(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cluster.CreateTopics(t, 2, schemas.TopicRawEvents)
	u := Unfinished{TransactionalID: "anabranch-router-x", Group: pendingGroup, Offsets: raw(0, 2), Commit: true}
	if err := u.Finish(t.Context(), cluster.Options()); err != nil {
		t.Fatal(err)
	}
	u.Offsets = raw(1, 3)
	u.open(t, cluster)
	pending, err := Pending(t.Context(), cluster.Client(t), pendingGroup, schemas.TopicRawEvents)
	if before, found := pending[1]; err != nil || !found || before != -1 {
		t.Errorf("pending %v, error %v, want the partition of which nothing was committed before", pending, err)
	}
}

// TestPendingOfNobody: a group that does not exist has nothing pending.
func TestPendingOfNobody(t *testing.T) {
	t.Parallel()
	cl := testkit.Brokers(t).Client(t)
	var pending map[int32]int64
	var err error
	testkit.Until(t, func() bool { // a new cluster has no coordinator of groups for a while
		pending, err = Pending(t.Context(), cl, "anabranch-nobody", schemas.TopicRawEvents)
		return err == nil
	}, "an answer")
	if len(pending) > 0 {
		t.Errorf("pending: %v", pending)
	}
}

// TestEnding: a transaction that is open holds nothing up by itself.
func TestEnding(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, "raw-events")
	writer := c.Client(t, kgo.TransactionalID("anabranch-test-writer"))
	if err := writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := writer.ProduceSync(t.Context(), &kgo.Record{Topic: "raw-events"}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	cl := c.Client(t)
	if held, err := Ending(t.Context(), cl, "anabranch-test-writer"); err != nil || len(held) != 0 {
		t.Errorf("%v, %v, want nothing", held, err)
	}
	if _, err := Ending(t.Context(), cl, "never used"); err == nil {
		t.Error("an id that nobody used is described")
	}
}

// TestFinishAsALivingProducer: the producer goes on behind it, whichever protocol it
// speaks itself, and nothing that it had committed or aborted changes.
func TestFinishAsALivingProducer(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	cluster.CreateTopics(t, 2, schemas.TopicRawEvents)
	const id = "anabranch-router-x"
	cl := cluster.Client(t, kgo.TransactionalID(id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	write := func(end kgo.TransactionEndTry) {
		t.Helper()
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: schemas.TopicRawEvents, Partition: 1}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := cl.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	partitions := []kafka.Partition{{Topic: schemas.TopicRawEvents, Num: 1}, {Topic: schemas.TopicRawEvents, Num: 0}, {Topic: "deleted", Num: 0}}
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		write(end)
		producer, epoch, err := cl.ProducerID(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		u := Unfinished{TransactionalID: id, Group: pendingGroup, Partitions: partitions, Commit: bool(end)}
		if err = u.FinishAs(t.Context(), cluster.Options(), producer, epoch); err != nil {
			t.Fatal(err)
		}
	}
	write(kgo.TryCommit)
	cluster.ReadAll(t, schemas.TopicRawEvents, 2)
}
