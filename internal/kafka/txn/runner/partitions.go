package runner

import (
	"context"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn/internal/place"
)

// callbacks are what a session calls when partitions come and go.
func (r *Runner) callbacks() []kgo.Opt {
	finder := &place.Finder{Settings: r.place}
	return []kgo.Opt{
		kgo.OnPartitionsAssigned(r.assigned),
		kgo.OnOffsetsFetched(finder.Fetched),
		kgo.AdjustFetchOffsetsFn(func(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
			return offsets, r.begin(ctx, finder, offsets[r.set.Source])
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, gone map[string][]int32) { r.forget(gone[r.set.Source]) }),
		kgo.OnPartitionsLost(r.lost),
	}
}

func (r *Runner) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	r.backlog.Assign(added[r.set.Source])
	if len(added[r.set.Source]) == 0 {
		r.ready.Store(true)
	} // else once they have begun
}

// begin puts partitions where their processing goes on, with the state that the stage
// has there. The offsets are stable: what a transaction of their last owner led to has
// been decided, and can be read.
func (r *Runner) begin(ctx context.Context, finder *place.Finder, offsets map[int32]kgo.Offset) error {
	begun, err := finder.Find(ctx, offsets)
	if err == nil && r.stateful != nil && len(begun) > 0 {
		at := make(map[int32]int64, len(begun))
		for num, m := range begun {
			at[num] = m.Next
		}
		err = r.stateful.Restore(ctx, at)
	}
	if err != nil {
		return err
	}
	for num, m := range begun {
		r.marks.Begin(num, m)
		r.backlog.Begin(num, m.Next)
	}
	r.hanging.Settled(begun)
	r.ready.Store(true)
	return nil
}

func (r *Runner) forget(partitions []int32) {
	r.backlog.Forget(partitions)
	r.marks.Forget(partitions)
	r.place.Waiting.Drop(partitions...)
	r.lose(partitions)
}

// lost is called when the group went on without this process, which also happens
// when no broker answers any more.
func (r *Runner) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	r.forget(gone[r.set.Source])
	r.ready.Store(false)
}

func (r *Runner) lose(partitions []int32) {
	if r.stateful != nil && len(partitions) > 0 {
		r.stateful.Lost(partitions)
	}
}
