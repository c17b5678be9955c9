package stagefaults

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// maxStart is when the first event of a new destination has been delivered,
	// from when the workspace that names it was in force.
	maxStart = 3 * time.Second
	// maxGap is what others may be held up by meanwhile.
	maxGap = time.Second
)

// NewDestinations adds destinations while two sinks deliver to others.
func NewDestinations(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 500
	additions, phase := lab.Pick(l, 2, 10), lab.Pick(l, 3*time.Second, 20*time.Second)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 10, Keys: 100, Sinks: 2})
	if err != nil {
		return nil, err
	}
	adding := time.Duration(additions) * 4 * time.Second
	plan := l.Moments(additions, adding)
	l.Announce("a destination more at %v", lab.Legible(plan))
	r := &report.Result{Faults: report.Faults{What: "destinations", Claimed: additions}}
	var before, during, after books.Span
	var slowest, slowestApply time.Duration
	addAll := func() error {
		during.From = time.Now()
		defer func() { during.To = time.Now() }()
		return lab.At(ctx, plan, adding, func(i int) error {
			applied, started, addErr := add(ctx, l, fmt.Sprintf("new%d", i))
			slowestApply, slowest = max(slowestApply, applied), max(slowest, started)
			r.Faults.Injected++
			return addErr
		})
	}
	err = l.Under(ctx, rate, f.Streams, func() error {
		return lab.InOrder(lab.Passes(ctx, phase, &before), addAll, lab.Passes(ctx, phase, &after))
	})
	if err != nil {
		return nil, err
	}
	if _, err = l.Drain(ctx, time.Minute); err != nil {
		return nil, err
	}
	others := lab.Only(f.Streams...)
	r.Before, r.During, r.After = l.Phase(before, others), l.Phase(during, others), l.Phase(after, others)
	r.Note("slowest apply %s, slowest start after it %s, the others' slowest event %s",
		slowestApply.Round(time.Millisecond), slowest.Round(time.Millisecond), r.During.Max.Round(time.Millisecond))
	r.Require(slowest <= maxStart, "a destination started after %s instead of at most %s", slowest, maxStart)
	r.Require(r.During.Max <= maxGap, "another destination's event took %s instead of at most %s", r.During.Max, maxGap)
	return r, l.Finish(ctx, r, time.Second, report.Bounds{MinSent: lab.AtLeast(rate, 2*phase+adding)}, f.Sinks...)
}

// add puts one more destination in force and returns how long that took, and how
// long its first event took from then.
func add(ctx context.Context, l *lab.Lab, name string) (applied, started time.Duration, err error) {
	all, err := l.Receivers(ctx, 1)
	if err != nil {
		return 0, 0, err
	}
	begun := time.Now()
	stream := l.Destination(name, 10, all[0].URL())
	if err = l.Apply(ctx); err != nil {
		return 0, 0, err
	}
	inForce := time.Now()
	if err = l.Writer.Fill(ctx, 1, stream); err != nil {
		return 0, 0, err
	}
	first := func() bool { _, met := all[0].First(inForce); return met }
	if err = child.Until(ctx, time.Minute, "the first event of "+name, first); err != nil {
		return 0, 0, err
	}
	arrived, _ := all[0].First(inForce)
	return inForce.Sub(begun), arrived.Sub(inForce), nil
}
