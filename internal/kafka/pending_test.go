package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

const pendingGroup = "anabranch-pending"

// open leaves a transaction open that has committed an offset for raw-events.
func (u *Unfinished) open(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	cl, err := u.producer(c.Options())
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
		decided map[int32]int64
		want    map[int32]Lag
	}{
		"known to be committed": {map[int32]int64{1: 3}, map[int32]Lag{0: {0, 0}, 1: {3, 4}}},
		"not known":             {nil, map[int32]Lag{0: {0, 0}, 1: {1, 4}}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := testkit.Brokers(t)
			cluster.CreateTopics(t, 2, schemas.TopicRawEvents)
			fill(t, cluster, schemas.TopicRawEvents, 1, 4)
			cl := cluster.Client(t)
			topics := NewTopics(cl, topicConfig)
			u := Unfinished{TransactionalID: "anabranch-router-x", Group: pendingGroup, Topic: schemas.TopicRawEvents, Offsets: map[int32]int64{1: 1}}
			if err := u.Finish(t.Context(), cluster.Options()); err != nil {
				t.Fatal(err)
			}
			u.Offsets = map[int32]int64{1: 3}
			u.open(t, cluster)
			pending, err := topics.Pending(t.Context(), pendingGroup, schemas.TopicRawEvents)
			if diff := cmp.Diff(map[int32]int64{1: 1}, pending); err != nil || diff != "" {
				t.Fatalf("pending, error %v (-want +got):\n%s", err, diff)
			}

			u.Offsets = c.decided
			if err = u.Finish(t.Context(), cluster.Options()); err != nil {
				t.Fatal(err)
			}
			testkit.Until(t, func() bool {
				pending, err = topics.Pending(t.Context(), pendingGroup, schemas.TopicRawEvents)
				return err == nil && len(pending) == 0
			}, "nothing to be pending")
			lag, err := topics.Lag(t.Context(), pendingGroup, schemas.TopicRawEvents)
			if diff := cmp.Diff(c.want, lag[schemas.TopicRawEvents]); err != nil || diff != "" {
				t.Errorf("lag, error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestPendingOfNobody: a group that does not exist has nothing pending.
func TestPendingOfNobody(t *testing.T) {
	t.Parallel()
	topics := NewTopics(testkit.Brokers(t).Client(t), topicConfig)
	var pending map[int32]int64
	var err error
	testkit.Until(t, func() bool { // a new cluster has no coordinator of groups for a while
		pending, err = topics.Pending(t.Context(), "anabranch-nobody", schemas.TopicRawEvents)
		return err == nil
	}, "an answer")
	if len(pending) > 0 {
		t.Errorf("pending: %v", pending)
	}
}
