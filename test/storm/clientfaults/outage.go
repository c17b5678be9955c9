package clientfaults

import (
	"context"
	"math"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// maxRecovery is when calls are accepted again after the brokers are back.
	maxRecovery = 5 * time.Second
	// maxGrowth is what ingest may grow by while calls come and brokers do not
	// answer.
	maxGrowth = 64 << 20
)

// BrokersAway has the brokers fall silent, and be killed, under calls, and looks
// at what the callers are told.
func BrokersAway(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 500
	calm, gone := lab.Pick(l, 3*time.Second, 10*time.Second), lab.Pick(l, 6*time.Second, 20*time.Second)
	in, err := newIntake(ctx, l)
	if err != nil {
		return nil, err
	}
	outages := waysToBeAway(ctx, l, gone)
	r := &report.Result{Faults: report.Faults{What: "outages", Claimed: len(outages)}}
	l.Announce("the brokers are away for %s, %d times", gone, len(outages))
	var got answers
	caller := load.Caller{
		URL: in.base + "/v1/track", WriteKey: lab.WriteKey, Producer: "calls", Keys: 101, Books: l.Books,
		Senders: 512, Answered: got.add,
	}
	sending, enough := context.WithCancel(ctx)
	calls := make(chan int, 1)
	go func() { calls <- caller.Run(sending, rate) }()
	spans := make([]books.Span, len(outages))
	steps := []func() error{func() error { return lab.Pause(ctx, calm) }}
	for i, away := range outages {
		steps = append(steps,
			func() error { return during(ctx, r, in.ingest, &spans[i], away) },
			func() error { return lab.Pause(ctx, calm+maxRecovery) },
		)
	}
	err = lab.InOrder(steps...)
	enough()
	r.Note("of %d calls", <-calls)
	if err != nil {
		return nil, err
	}
	for _, away := range spans {
		// Each outage by itself: the calls from its begin until things were calm again.
		judgeAnswers(l, r, judgeOutage(got.within(books.Span{From: away.From, To: away.To.Add(calm + maxRecovery)}), away))
	}
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{MinSent: lab.AtLeast(rate, calm), MaxDoubled: math.MaxInt, MaxInverted: -1}, in.all()...)
}

// waysToBeAway are the outages that the bench can bring about: its own broker
// can be killed beside being held up.
func waysToBeAway(ctx context.Context, l *lab.Lab, gone time.Duration) []func() error {
	ways := []func() error{func() error {
		return lab.InOrder(l.Broker.Hold, func() error { return lab.Pause(ctx, gone) }, l.Broker.Release)
	}}
	if own, ok := l.Broker.(*child.Process); ok {
		ways = append(ways, func() error {
			return lab.InOrder(own.Kill, func() error { return lab.Pause(ctx, gone) }, own.Start,
				func() error { return own.Listening(ctx, l.Brokers) })
		})
	}
	return ways
}

// during brings an outage about and looks at what ingest takes meanwhile.
func during(ctx context.Context, r *report.Result, ingest *child.Process, span *books.Span, away func() error) error {
	before, err := ingest.Gauges(ctx)
	if err != nil {
		return err
	}
	watch := ingest.Watch(ctx)
	span.From = time.Now()
	err = away()
	span.To = time.Now()
	if err != nil {
		return err
	}
	r.Faults.Injected++
	peak, err := watch.Peak()
	if err != nil {
		return err
	}
	growth := peak.Resident - before.Resident
	r.Note("ingest grown by %d MiB to %d", growth>>20, peak.Resident>>20)
	r.Require(growth <= maxGrowth, "ingest grown by %d MiB instead of at most %d", growth>>20, maxGrowth>>20)
	return nil
}

// judgeAnswers holds the answers of an outage against what callers are promised.
// What the bench itself was late by is not the product's.
func judgeAnswers(l *lab.Lab, r *report.Result, o outage) {
	late := l.Lateness()
	r.Note("first 503 after %s, accepted again %s after the end, slowest answer while it was known %s",
		o.firstRefusal.Round(time.Millisecond), o.recovered.Round(time.Millisecond), o.slowest.Round(time.Millisecond))
	r.Require(o.firstRefusal >= 0 && o.firstRefusal <= known+late, "first 503 after %s instead of at most %s", o.firstRefusal, known)
	r.Require(o.recovered >= 0 && o.recovered <= maxRecovery+late, "accepted again after %s instead of at most %s", o.recovered, maxRecovery)
	r.Require(o.slowest <= known+late, "an answer took %s instead of at most %s", o.slowest, known)
	r.Require(o.odd == 0, "%d answers that are neither 200 nor a 503 with Retry-After", o.odd)
}
