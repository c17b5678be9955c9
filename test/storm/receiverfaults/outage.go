package receiverfaults

import (
	"context"
	"slices"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

// outage is a row in which some of many destinations fail.
type outage struct {
	destinations int
	failing      int
	refused      bool // every other failing one refuses connections instead of hanging
	partitions   int  // of each destination's topic
	rate         int  // over all destinations
	backlog      int  // events of each failing one that wait already
	phase        time.Duration
	rounds       int // undisturbed and disturbed in turn
	maxSlowdown  float64
	settle       time.Duration // after each outage
}

// maxPeak is what a sink with default limits may take, however long the backlog:
// the goroutines of 1,024 attempts in flight and of the client of the broker, and
// the resident memory that a million waiting events are granted.
var maxPeak = child.Gauges{Resident: 256 << 20, Goroutines: 4_000}

// defaultDelays are those of the product: what an outage costs the others depends
// on how often each waiting event is met again, so the delays of the other rows,
// which are short, would measure another product.
const defaultDelays = "WEBHOOK_SINK_RETRY_DELAYS=5s,30s,2m,5m,8m,8m,8m,8m,23m"

// Hang10of50 has ten of fifty destinations hang for as long as an attempt may take.
func Hang10of50(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	return runOutage(ctx, l, outage{
		destinations: 50, failing: 10, partitions: 6, rate: 1000, backlog: lab.Pick(l, 200, 1000),
		phase: lab.Pick(l, 10*time.Second, time.Minute), rounds: lab.Pick(l, 1, 3),
		maxSlowdown: 1.25, settle: 5 * time.Minute,
	})
}

// Dead200of1000 has a hundred of a thousand destinations hang, and as many refuse
// connections.
func Dead200of1000(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	return runOutage(ctx, l, outage{
		destinations: 1000, failing: 200, refused: true, partitions: 1, rate: 1000, backlog: lab.Pick(l, 20, 100),
		phase: lab.Pick(l, 10*time.Second, time.Minute), rounds: lab.Pick(l, 1, 3),
		maxSlowdown: 1.5, settle: 5 * time.Minute,
	})
}

// spans are the stretches of time of an outage row.
type spans struct{ undisturbed, disturbed []books.Span }

// runOutage runs phases with and without failing destinations in turn, in one run
// and on one sink: what the machine does beside it then touches both alike.
func runOutage(ctx context.Context, l *lab.Lab, o outage) (*report.Result, error) {
	f, err := l.Field(ctx, lab.Layout{Partitions: o.partitions, Destinations: o.destinations, Keys: 100, Sinks: 1}, defaultDelays)
	if err != nil {
		return nil, err
	}
	// Which ones fail is chance, so that no order of names or ports is flattered.
	chosen := l.Rand.Perm(o.destinations)[:o.failing]
	l.Announce("%d of %d fail, among them %v, for %s, %d times", o.failing, o.destinations, chosen[:min(10, o.failing)], o.phase, o.rounds)
	hurt, healthy := split(f, chosen)
	r := &report.Result{Faults: report.Faults{What: "outages", Claimed: o.failing * o.rounds}}
	watch := f.Sinks[0].Watch(ctx)
	var s spans
	err = l.Under(ctx, o.rate, f.Streams, func() error { return alternate(ctx, l, o, hurt, r, &s) })
	if err != nil {
		return nil, err
	}
	peak, err := watch.Peak()
	if err != nil {
		return nil, err
	}
	judgePeak(r, peak)
	if _, err = l.Drain(ctx, o.settle); err != nil {
		return nil, err
	}
	measure(l, r, s, lab.Only(healthy.Streams...))
	return r, l.Finish(ctx, r, time.Second, report.Bounds{
		MinSent: lab.AtLeast(o.rate, time.Duration(2*o.rounds+1)*o.phase), MaxInverted: -1, MaxSlowdown: o.maxSlowdown,
	}, f.Sinks...)
}

// split parts the chosen destinations from the others.
func split(f *lab.Field, chosen []int) (hurt, healthy *lab.Field) {
	hurt, healthy = &lab.Field{}, &lab.Field{}
	for i := range f.Streams {
		into := healthy
		if slices.Contains(chosen, i) {
			into = hurt
		}
		into.Receivers, into.Streams = append(into.Receivers, f.Receivers[i]), append(into.Streams, f.Streams[i])
	}
	return hurt, healthy
}

// fail makes receivers hang, or every other one refuse connections.
func fail(f *lab.Field, refused bool) {
	for i, to := range f.Receivers {
		if refused && i%2 == 1 {
			to.Down()
		} else {
			to.Behave(receiver.Behaviour{Hang: true})
		}
	}
}

// happened counts those that failed in a span: a receiver that hangs and that
// nobody calls does no harm. One that refuses sees nobody.
func happened(f *lab.Field, s books.Span, refused bool) int {
	n := 0
	for i, to := range f.Receivers {
		if refused && i%2 == 1 || to.Attempts(s) > 0 {
			n++
		}
	}
	return n
}

// mend undoes fail.
func mend(ctx context.Context, f *lab.Field, refused bool) error {
	for i, to := range f.Receivers {
		if refused && i%2 == 1 {
			if err := to.Up(ctx); err != nil {
				return err
			}
		}
		to.Behave(receiver.Behaviour{})
	}
	return nil
}

// alternate lets the phases pass. A disturbed one begins with a backlog, and an
// undisturbed one when all that an outage left behind is gone.
func alternate(ctx context.Context, l *lab.Lab, o outage, hurt *lab.Field, r *report.Result, s *spans) error {
	s.undisturbed, s.disturbed = make([]books.Span, o.rounds+1), make([]books.Span, o.rounds)
	steps := make([]func() error, 0, 1+5*o.rounds)
	steps = append(steps, lab.Passes(ctx, o.phase, &s.undisturbed[0]))
	for i := range o.rounds {
		steps = append(steps,
			func() error {
				fail(hurt, o.refused)
				return l.Writer.Pour(ctx, 2*o.rate, o.backlog, hurt.Streams...)
			},
			lab.Passes(ctx, o.phase, &s.disturbed[i]),
			func() error {
				r.Faults.Injected += happened(hurt, s.disturbed[i], o.refused)
				return mend(ctx, hurt, o.refused)
			},
			func() error { return caughtUp(ctx, l, r, o.settle, lab.Only(hurt.Streams...)) },
			lab.Passes(ctx, o.phase, &s.undisturbed[i+1]),
		)
	}
	return lab.InOrder(steps...)
}

// caughtUp waits until what is open of some producers under load is no more than
// what is always on its way, and notes how long that took.
func caughtUp(ctx context.Context, l *lab.Lab, r *report.Result, bound time.Duration, pick func(string) bool) error {
	const onItsWay = 20
	begun := time.Now()
	err := child.Until(ctx, bound, "the failed destinations to catch up", func() bool { return l.Books.Tally(pick).Lost <= onItsWay })
	r.Note("caught up in %s", time.Since(begun).Round(100*time.Millisecond))
	r.Require(err == nil, "failed destinations had not caught up %s after they were back", bound)
	return ctx.Err()
}

// measure enters the latencies of the healthy: of the undisturbed phases the
// first and the median of the others, of the disturbed ones the median.
func measure(l *lab.Lab, r *report.Result, s spans, healthy func(string) bool) {
	sum := func(all []books.Span) books.Phase {
		phases := make([]books.Phase, len(all))
		for i, passed := range all {
			phases[i] = l.Phase(passed, healthy)
		}
		return books.Median(phases)
	}
	r.Before, r.During, r.After = sum(s.undisturbed[:1]), sum(s.disturbed), sum(s.undisturbed[1:])
	throughput := 1.0
	for _, passed := range s.disturbed {
		throughput = min(throughput, float64(l.Books.Accepted(passed, healthy))/float64(l.Phase(passed, healthy).Count))
	}
	r.Note("throughput of the others %.3f", throughput)
	r.Require(throughput >= 0.98, "the others got %.3f of their events instead of at least 0.98", throughput)
}

// judgePeak holds the highest gauges of a row against what a sink may take.
func judgePeak(r *report.Result, peak child.Gauges) {
	r.Note("peak %d MiB, %d goroutines, %d descriptors", peak.Resident>>20, peak.Goroutines, peak.Descriptors)
	r.Require(peak.Resident <= maxPeak.Resident, "%d MiB resident instead of at most %d", peak.Resident>>20, maxPeak.Resident>>20)
	r.Require(peak.Goroutines <= maxPeak.Goroutines, "%d goroutines instead of at most %d", peak.Goroutines, maxPeak.Goroutines)
}
