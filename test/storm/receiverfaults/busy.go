package receiverfaults

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// busyService is what the receiver takes for an event: 20 a second of one user.
	busyService = 50 * time.Millisecond
	busyRate    = 100
	crowdRate   = 200
	// maxBesideBusy is what the 99th percentile of the other users may be above that of
	// before. Were they to wait for the one, it would be seconds.
	maxBesideBusy = 250 * time.Millisecond
)

// BusyUser gives one user of a destination five times as many events as its receiver
// takes one at a time, beside hundreds of others who must not notice.
func BusyUser(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	around, crush := lab.Pick(l, 5*time.Second, 30*time.Second), lab.Pick(l, 20*time.Second, 2*time.Minute)
	f, err := l.Field(ctx, lab.Layout{
		Partitions: 6, Destinations: 1, Keys: 500, Sinks: 1,
		Behave: func(int) receiver.Behaviour { return receiver.Behaviour{Delay: busyService} },
	})
	if err != nil {
		return nil, err
	}
	// Its producer is another, so that it has books of its own.
	busy := load.NewStream(l.Books.Run(), l.ID("busy"), schemas.DeliverTopic(l.ID("d0")), 1)
	l.Announce("one user gets %d events a second for %s, of which its receiver takes %d", busyRate, crush, int(time.Second/busyService))
	r := &report.Result{Faults: report.Faults{What: "busy users", Claimed: 1}}
	var before, during, after books.Span
	err = l.Under(ctx, crowdRate, f.Streams, func() error {
		return lab.InOrder(
			lab.Passes(ctx, around, &before),
			func() error {
				r.Faults.Injected++
				return l.Under(ctx, busyRate, []*load.Stream{busy}, lab.Passes(ctx, crush, &during))
			},
			lab.Passes(ctx, around, &after), // the backlog is still there
		)
	})
	if err != nil {
		return nil, err
	}
	waiting := crush * busyRate / (time.Second / busyService)
	if _, err = l.Drain(ctx, 2*waiting+time.Minute); err != nil {
		return nil, err
	}
	others := lab.Only(f.Streams...)
	r.Before, r.During, r.After = l.Phase(before, others), l.Phase(during, others), l.Phase(after, others)
	most := r.Before.P99 + maxBesideBusy + l.Lateness()
	for _, p := range []books.Phase{r.During, r.After} {
		r.Require(p.P99 <= most, "p99 %s of those beside the busy user instead of at most %s", p.P99, most)
	}
	return r, l.Finish(ctx, r, time.Second, report.Bounds{MinSent: lab.AtLeast(crowdRate, 2*around+crush)}, f.Sinks...)
}
