package topics

import (
	"context"
	"slices"
)

// step is how many topics are created by one request where there are many: few enough
// that a busy cluster answers within seconds.
const step = 100

// EnsureInSteps is [Admin.Ensure] for any number of topics. Where they take several
// requests, progress is told how many of those that were missing exist by now, for the
// first time before there are any. Topics that exist are passed over, so what a run
// that failed has created another one need not create.
func (t *Admin) EnsureInSteps(ctx context.Context, progress func(done, total int), names ...string) error {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	missing, err := t.missing(ctx, names)
	if err != nil {
		return err
	}
	if len(missing) <= step {
		return t.Ensure(ctx, missing...)
	}
	// The number of partitions follows that of all destinations, not of a step's.
	whole := *t
	if whole.config.DeliverPartitions, err = t.automatic(ctx, missing); err != nil {
		return err
	}
	done := 0
	progress(done, len(missing))
	for some := range slices.Chunk(missing, step) {
		if err := whole.Ensure(ctx, some...); err != nil {
			return err
		}
		done += len(some)
		progress(done, len(missing))
	}
	return nil
}
