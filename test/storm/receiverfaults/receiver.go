package receiverfaults

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

// ReceiverDown takes a receiver away and brings it back, next to another that
// must not notice.
func ReceiverDown(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 400 // half of it for each of the two
	outage, around := lab.Pick(l, 10*time.Second, 90*time.Second), lab.Pick(l, 5*time.Second, 30*time.Second)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 2, Keys: 200, Sinks: 1})
	if err != nil {
		return nil, err
	}
	l.Announce("one of two receivers refuses connections for %s", outage)
	r := &report.Result{Faults: report.Faults{What: "outages", Claimed: 1}}
	gone := f.Receivers[0]
	var before, during, backlog, after books.Span
	err = l.Under(ctx, rate, f.Streams, func() error {
		return lab.InOrder(
			lab.Passes(ctx, around, &before),
			func() error { gone.Down(); r.Faults.Injected++; return nil },
			lab.Passes(ctx, outage, &during),
			func() error { backlog.From = time.Now(); return gone.Up(ctx) },
			func() error { return caughtUp(ctx, l, r, 5*time.Minute, lab.Only(f.Streams[0])) },
			func() error { backlog.To = time.Now(); return nil },
			lab.Passes(ctx, around, &after),
		)
	})
	if err != nil {
		return nil, err
	}
	if _, err = l.Drain(ctx, time.Minute); err != nil {
		return nil, err
	}
	recovery(r, gone, before, backlog)
	other := lab.Only(f.Streams[1])
	r.Before, r.During, r.After = l.Phase(before, other), l.Phase(during, other), l.Phase(after, other)
	return r, l.Finish(ctx, r, time.Second, report.Bounds{MinSent: lab.AtLeast(rate, outage+2*around), MaxInverted: -1}, f.Sinks...)
}

// recovery notes how a receiver was met when it came back, in the first second in
// which it was. What that may be at most is proven in virtual time, in the sink's
// own tests; here it is one second of a busy machine.
func recovery(r *report.Result, to *receiver.Receiver, before, backlog books.Span) {
	steady := float64(to.Attempts(before)) / before.To.Sub(before.From).Seconds()
	first, met := to.First(backlog.From)
	if !met || steady == 0 {
		r.Require(false, "the receiver was not met again")
		return
	}
	second := to.Attempts(books.Span{From: first, To: first.Add(time.Second)})
	r.Note("met again after %s, %.2f times the steady rate in the first second", first.Sub(backlog.From).Round(time.Millisecond), float64(second)/steady)
}

// FiveEndpointsOneDead has one of a destination's five endpoints hang. An attempt
// ends with its last endpoint, so until the sink leaves the dead one out, each
// event takes five seconds.
func FiveEndpointsOneDead(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate, endpoints = 100, 5
	phase, learning := lab.Pick(l, 10*time.Second, time.Minute), 15*time.Second
	f, err := five(ctx, l, endpoints)
	if err != nil {
		return nil, err
	}
	dead := l.Rand.IntN(endpoints-1) + 1 // the first one's books are those that count
	hanging := f.Receivers[dead]
	l.Announce("endpoint %d of %d hangs for %s", dead, endpoints, learning+phase)
	r := &report.Result{Faults: report.Faults{What: "hanging endpoints", Claimed: 1}}
	var before, cost, during, after books.Span
	err = l.Under(ctx, rate, f.Streams, func() error {
		return lab.InOrder(
			lab.Passes(ctx, phase, &before),
			func() error { hanging.Behave(receiver.Behaviour{Hang: true}); return nil },
			lab.Passes(ctx, learning, &cost),
			lab.Passes(ctx, phase, &during),
			func() error { hanging.Behave(receiver.Behaviour{}); return nil },
			lab.Passes(ctx, phase, &after),
		)
	})
	if err != nil {
		return nil, err
	}
	if _, err = l.Drain(ctx, time.Minute); err != nil {
		return nil, err
	}
	r.Before, r.During, r.After = l.Phase(before, nil), l.Phase(during, nil), l.Phase(after, nil)
	if hanging.Attempts(cost) > 0 {
		r.Faults.Injected++
	}
	judgeCosts(r, hanging.Attempts(cost), hanging.Attempts(during))
	return r, l.Finish(ctx, r, time.Second, report.Bounds{MinSent: lab.AtLeast(rate, 3*phase+learning), MaxInverted: -1}, f.Sinks...)
}

// maxProbes is how often a dead endpoint may be tried within a minute once the
// sink knows: pauses that double from one second to ten make fewer.
const maxProbes = 12

// judgeCosts is about the attempts at a dead endpoint: at first, when the sink
// has yet to learn that it is dead, and later.
func judgeCosts(r *report.Result, first, later int) {
	r.Note("%d attempts at the dead endpoint at first, %d later", first, later)
	r.Require(first <= lab.InFlight+maxProbes, "%d attempts at the dead endpoint at first instead of at most %d", first, lab.InFlight+maxProbes)
	r.Require(later <= maxProbes, "%d attempts at the dead endpoint once it was known instead of at most %d", later, maxProbes)
	r.Require(r.During.P50 <= 2*max(r.Before.P50, r.After.P50), "p50 %s beside a dead endpoint that is known, more than twice the undisturbed one", r.During.P50)
}

// five sets up one destination of several endpoints. The first of them keeps the
// books, in which an event that all of them get would count once for each. It has
// many users: one whose event meets a probe waits for its end.
func five(ctx context.Context, l *lab.Lab, endpoints int) (*lab.Field, error) {
	if err := l.Open(ctx, 6); err != nil {
		return nil, err
	}
	var f lab.Field
	urls := make([]string, 0, endpoints)
	for i := range endpoints {
		b := l.Books
		if i > 0 {
			b = books.New(l.Books.Run())
		}
		to, err := l.Receiver(ctx, b)
		if err != nil {
			return nil, err
		}
		f.Receivers, urls = append(f.Receivers, to), append(urls, to.URL())
	}
	f.Streams = append(f.Streams, l.Destination("five", 1000, urls...))
	if err := l.Apply(ctx); err != nil {
		return nil, err
	}
	var err error
	if f.Sinks, err = l.Sinks(ctx, 1); err != nil {
		return nil, err
	}
	return &f, l.Warm(ctx, f.Streams...)
}
