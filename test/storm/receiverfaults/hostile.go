package receiverfaults

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// maxGrowth is what hostile receivers may make the sink grow by.
	maxGrowth = 64 << 20
	// maxAttempt is when an attempt has ended, whatever the receiver does.
	maxAttempt = 5300 * time.Millisecond
	// maxUnharmed is what the 99th percentile of others may be beside them.
	maxUnharmed = 500 * time.Millisecond
	// hostileWindow ends the retries that hostile receivers cause, so that what
	// they took can be seen to come back.
	hostileWindow = "15s"
)

// Hostile64 sets 64 misbehaving receivers on the sink, beside ordinary ones that
// must not notice.
func Hostile64(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const count, healthyRate = 64, 200
	phase, attacking := lab.Pick(l, 5*time.Second, 30*time.Second), lab.Pick(l, 15*time.Second, 3*time.Minute)
	foes, hostile, err := foes(ctx, l, count)
	if err != nil {
		return nil, err
	}
	f, err := l.Field(ctx, lab.Layout{Partitions: 1, Destinations: 4, Keys: 100, Sinks: 1}, "WEBHOOK_SINK_RETRY_WINDOW="+hostileWindow)
	if err != nil {
		return nil, err
	}
	l.Announce("%d receivers misbehave in %d ways for %s", count, len(receiver.Misbehaviours()), attacking)
	r := &report.Result{Faults: report.Faults{What: "misbehaving receivers", Claimed: count}}
	var before, during, after books.Span
	var resting, calm child.Gauges
	look := func(into *child.Gauges) func() error {
		return func() (lookErr error) {
			*into, lookErr = f.Sinks[0].Gauges(ctx)
			return lookErr
		}
	}
	under := func(steps ...func() error) func() error {
		return func() error {
			return l.Under(ctx, healthyRate, f.Streams, func() error { return lab.InOrder(steps...) })
		}
	}
	// What is open must come back while nothing is sent: under load, each pause of
	// the machine opens connections.
	err = lab.InOrder(
		look(&resting),
		under(
			lab.Passes(ctx, phase, &before),
			look(&calm),
			func() error { return attack(ctx, l, r, f.Sinks[0], calm, attacking, hostile, &during) },
		),
		func() error { return settled(ctx, r, f.Sinks[0], resting) },
		under(lab.Passes(ctx, phase, &after)),
	)
	if err != nil {
		return nil, err
	}
	r.Faults.Injected = met(foes)
	endurance(l, r, foes)
	if _, err = l.Drain(ctx, time.Minute); err != nil {
		return nil, err
	}
	healthy := lab.Only(f.Streams...)
	r.Before, r.During, r.After = l.Phase(before, healthy), l.Phase(during, healthy), l.Phase(after, healthy)
	judgeUnharmed(r, l.Deliveries(during, healthy), maxUnharmed+l.Lateness())
	return r, l.Finish(ctx, r, time.Second, report.Bounds{MinSent: lab.AtLeast(healthyRate, 2*phase+attacking)}, f.Sinks...)
}

// judgeUnharmed holds what others got against its bound: from the broker's
// acknowledgement on, for before that the sink has no part in it.
func judgeUnharmed(r *report.Result, beside books.Phase, bound time.Duration) {
	r.Note("beside them p50 %s and p99 %s from the broker's acknowledgement", beside.P50.Round(10*time.Microsecond), beside.P99.Round(10*time.Microsecond))
	r.Require(beside.P99 <= bound, "p99 %s of those beside them, from the broker's acknowledgement, instead of at most %s", beside.P99, bound)
}

// nobody is the run of the events that hostile receivers get. They are in no
// books, since what such a receiver answers means nothing.
const nobody = "nobody"

// foes starts hostile receivers, of each kind in turn, and a destination for
// each.
func foes(ctx context.Context, l *lab.Lab, n int) ([]*receiver.Hostile, []*load.Stream, error) {
	kinds := receiver.Misbehaviours()
	var all []*receiver.Hostile
	var streams []*load.Stream
	for i := range n {
		name := fmt.Sprintf("h%d", i)
		h, err := l.Hostile(ctx, kinds[i%len(kinds)])
		if err != nil {
			return nil, nil, err
		}
		all = append(all, h)
		l.Destination(name, 10, h.URL())
		streams = append(streams, load.NewStream(nobody, l.ID(name), schemas.DeliverTopic(l.ID(name)), 10))
	}
	return all, streams, nil
}

// hostileRate is over all hostile receivers.
const hostileRate = 256

// attack sends events to the hostile receivers and watches the sink meanwhile.
func attack(ctx context.Context, l *lab.Lab, r *report.Result, sink *child.Process, calm child.Gauges, d time.Duration, hostile []*load.Stream, during *books.Span) error {
	watch := sink.Watch(ctx)
	apart := &load.Writer{Client: l.Writer.Client, Books: books.New(nobody), Source: lab.Source}
	limited, enough := context.WithTimeout(ctx, d)
	defer enough()
	during.From = time.Now()
	if err := apart.Run(limited, hostileRate, hostile...); err != nil {
		return err
	}
	during.To = time.Now()
	peak, err := watch.Peak()
	if err != nil {
		return err
	}
	judgeGrowth(r, calm, peak)
	return ctx.Err()
}

func judgeGrowth(r *report.Result, calm, peak child.Gauges) {
	growth := peak.Resident - calm.Resident
	r.Note("%d MiB resident, grown by %d, %d goroutines, %d descriptors", peak.Resident>>20, growth>>20, peak.Goroutines, peak.Descriptors)
	r.Require(growth <= maxGrowth, "grown by %d MiB instead of at most %d", growth>>20, maxGrowth>>20)
}

// settled waits until descriptors and goroutines are back where they were before
// any load, give or take some connections to the broker.
func settled(ctx context.Context, r *report.Result, sink *child.Process, resting child.Gauges) error {
	const slack = 16
	var last child.Gauges
	var lookErr error
	begun := time.Now()
	err := child.Until(ctx, 90*time.Second, "descriptors and goroutines to return", func() bool {
		last, lookErr = sink.Gauges(ctx)
		return lookErr == nil && last.Descriptors <= resting.Descriptors+slack && last.Goroutines <= resting.Goroutines+2*slack
	})
	if lookErr != nil {
		return lookErr
	}
	r.Require(err == nil, "%d descriptors and %d goroutines instead of %d and %d", last.Descriptors, last.Goroutines, resting.Descriptors, resting.Goroutines)
	r.Note("back to %d goroutines and %d descriptors after %s", last.Goroutines, last.Descriptors, time.Since(begun).Round(time.Second))
	return nil
}

// met counts the hostile receivers that were sent anything.
func met(foes []*receiver.Hostile) int {
	n := 0
	for _, h := range foes {
		if h.Requests() > 0 {
			n++
		}
	}
	return n
}

// endurance notes how long the sink bore with one of them at most. What the bench
// itself was late by, it was perhaps late to see the end.
func endurance(l *lab.Lab, r *report.Result, foes []*receiver.Hostile) {
	var longest time.Duration
	var kind string
	for _, h := range foes {
		if d := h.Longest(); d > longest {
			longest, kind = d, h.Kind()
		}
	}
	longest = longest.Round(10 * time.Millisecond)
	r.Note("longest attempt %s (%s)", longest, kind)
	bound := maxAttempt + l.Lateness()
	r.Require(longest <= bound, "an attempt took %s (%s) instead of at most %s", longest, kind, bound)
}
