package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
)

// Pick chooses between the sizes of the short and of the full form.
func Pick[T any](l *Lab, short, full T) T {
	if l.bench.Short {
		return short
	}
	return full
}

// Announce prints a plan before it is carried out.
func (l *Lab) Announce(format string, args ...any) {
	fmt.Printf("%s: seed %d: %s\n", l.row, l.bench.Seed, fmt.Sprintf(format, args...))
}

// Moments spreads n faults over a time: one in each n-th part of it, somewhere in
// its middle, so that a victim has had time to get going again.
func (l *Lab) Moments(n int, over time.Duration) []time.Duration {
	part := over / time.Duration(n)
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = part*time.Duration(i) + part/3 + time.Duration(l.Rand.Int64N(int64(part/2)))
	}
	return all
}

// Legible rounds durations for an announcement.
func Legible(all []time.Duration) []time.Duration {
	out := make([]time.Duration, len(all))
	for i, d := range all {
		out[i] = d.Round(10 * time.Millisecond)
	}
	return out
}

// At waits for the moments of a plan, one after the other, does something at
// each, and then waits for the end of the time that the plan is for.
func At(ctx context.Context, plan []time.Duration, over time.Duration, do func(i int) error) error {
	begun := time.Now()
	for i, moment := range plan {
		if err := Pause(ctx, time.Until(begun.Add(moment))); err != nil {
			return err
		}
		if err := do(i); err != nil {
			return err
		}
	}
	return Pause(ctx, time.Until(begun.Add(over)))
}

// Pause lets time pass. The error is that of ctx, should it end before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// InOrder takes steps one after the other, up to the first that fails.
func InOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Passes is a step that lets time pass and notes which.
func Passes(ctx context.Context, d time.Duration, into *books.Span) func() error {
	return func() error {
		into.From = time.Now()
		err := Pause(ctx, d)
		into.To = time.Now()
		return err
	}
}
