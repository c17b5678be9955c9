package runner

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/place"
)

// callbacks are what a session calls when partitions come and go.
func (r *Runner) callbacks() []kgo.Opt {
	finder := &place.Finder{Settings: r.place}
	return []kgo.Opt{
		kgo.OnPartitionsAssigned(r.assigned),
		kgo.OnOffsetsFetched(finder.Fetched),
		kgo.AdjustFetchOffsetsFn(func(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
			return offsets, r.begin(ctx, finder, offsets)
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { r.forget(kafka.Partitions(gone)) }),
		kgo.OnPartitionsLost(r.lost),
	}
}

func (r *Runner) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	partitions := kafka.Partitions(added)
	r.backlog.Assign(partitions)
	if len(partitions) == 0 {
		r.ready.Store(true)
	} // else once they have begun
}

// begin puts partitions where their processing goes on, with the state that the stage
// has there. The offsets are stable: what a transaction of their last owner led to has
// been decided, and can be read.
func (r *Runner) begin(ctx context.Context, finder *place.Finder, offsets map[string]map[int32]kgo.Offset) error {
	begun, err := finder.Find(ctx, offsets)
	if err == nil && r.stateful != nil && len(begun) > 0 {
		err = r.stateful.Restore(ctx, begun)
	}
	if err != nil {
		return err
	}
	for p, at := range begun {
		if !at.Committed {
			offsets[p.Topic][p.Num] = kgo.NewOffset().At(at.Next) // the stage may have set it
		}
		r.marks.Begin(p, at.Mark)
		r.backlog.Begin(p, at.Next)
	}
	r.ready.Store(true)
	return nil
}

func (r *Runner) forget(partitions []kafka.Partition) {
	r.backlog.Forget(partitions)
	r.marks.Forget(partitions)
	r.place.Waiting.Drop(partitions...)
	r.lose(partitions)
}

// lost is called when the group went on without this process, which also happens
// when no broker answers any more.
func (r *Runner) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	r.forget(kafka.Partitions(gone))
	r.ready.Store(false)
}

func (r *Runner) lose(partitions []kafka.Partition) {
	if r.stateful != nil && len(partitions) > 0 {
		r.stateful.Lost(partitions)
	}
}

// told is the group's balancer, which tells what this process was given. A session
// passes on the first revocation between two transactions alone.
type told struct {
	kgo.GroupBalancer

	of func(ours []kafka.Partition)
}

// ParseSyncAssignment implements [kgo.GroupBalancer].
func (t told) ParseSyncAssignment(assignment []byte) (map[string][]int32, error) {
	ours, err := t.GroupBalancer.ParseSyncAssignment(assignment)
	if err == nil {
		t.of(kafka.Partitions(ours))
	}
	return ours, err
}

// keep forgets all partitions but those of an assignment.
func (r *Runner) keep(ours []kafka.Partition) {
	if gone := r.marks.Without(ours); len(gone) > 0 {
		r.forget(gone)
	}
}
