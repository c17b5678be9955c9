package stagefaults

import (
	"context"
	"fmt"
	"strconv"
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
	// besideService is what the receiver takes for a request: a sink with 64 in flight makes
	// 640 of them a second, and 320 of a replay.
	besideService = 100 * time.Millisecond
	// besideLive is the rate of the live events, and besideRate that of the replay: more than
	// the destination takes, so that some of it always waits there.
	besideLive, besideRate = 200, 500
	// besideFill is the rate at which the past is made.
	besideFill = 4_000
	// maxBeside is the 99th percentile of live events while a replay runs, in terms of that
	// while none does.
	maxBeside = 1.25
	// besidePatience is how long what was sent may take to be delivered: on a machine that is
	// short of processors a replay is slow rather than in the way.
	besidePatience = 10 * time.Minute
	// pausedWithin is how soon nothing more is sent.
	pausedWithin = time.Second
)

// ReplayBeside replays the past of a destination at more than it takes, beside its live
// events, and pauses that again and again: stretches with the replay and without it take
// turns, so that both see the same machine. In the end the run is cancelled.
func ReplayBeside(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	rounds, stretch := lab.Pick(l, 2, 4), lab.Pick(l, 5*time.Second, 10*time.Second)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 1, Keys: 500, Sinks: 1, Routed: true})
	if err != nil {
		return nil, err
	}
	b := &beside{lab: l, field: f, past: load.NewStream(l.Books.Run(), l.ID("past"), schemas.TopicRawEvents, 500)}
	// More than the destination can take in all stretches with the replay.
	if err = b.fill(ctx, 2*(rounds+1)*int(stretch.Seconds())*besideRate); err != nil {
		return nil, err
	}
	l.Announce("a replay of %d events, paused and resumed %d times, at the receiver's %s a request", b.events, rounds, besideService)
	r := &report.Result{Faults: report.Faults{What: "stretches of a replay", Claimed: rounds}}
	steps := []func() error{func() error { return b.begin(ctx, r, stretch) }}
	for range rounds {
		steps = append(steps, func() error { return b.round(ctx, r, stretch) })
	}
	steps = append(steps, func() error { return b.cancel(ctx, r) })
	if err = l.Under(ctx, besideLive, f.Streams, func() error { return lab.InOrder(steps...) }); err != nil {
		return nil, err
	}
	if _, err = l.Drain(ctx, time.Minute); err != nil {
		return nil, err
	}
	b.judge(r, stretch)
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{
		MinSent: b.events + lab.AtLeast(besideLive, 2*time.Duration(rounds)*stretch), MaxDoubled: b.events, MaxInverted: -1,
	}, f.All()...)
}

// beside is a replay to a destination that has live events too.
type beside struct {
	lab          *lab.Lab
	field        *lab.Field
	past         *load.Stream
	from, to     time.Time // when the past was received
	events       int       // of the past
	run          run
	alone, under []books.Span // without the replay, and with it
	replayed     []int        // in each of the latter
}

// run is what the product says of a replay.
type run struct {
	ID, State string
	Sent      int
}

// fill makes a past that is delivered, at once.
func (b *beside) fill(ctx context.Context, events int) error {
	b.events = events
	return lab.InOrder(
		func() (err error) { b.from, err = nextSecond(ctx); return err },
		func() error { return b.lab.Writer.Pour(ctx, besideFill, events, b.past) },
		func() (err error) { b.to, err = nextSecond(ctx); return err },
		func() error {
			_, err := b.lab.Drain(ctx, 2*time.Minute)
			b.field.Receivers[0].Behave(receiver.Behaviour{Delay: besideService})
			return err
		},
	)
}

// nextSecond waits for one to begin: that is how exactly commands are told times.
func nextSecond(ctx context.Context) (time.Time, error) {
	next := time.Now().Truncate(time.Second).Add(time.Second)
	return next, lab.Pause(ctx, time.Until(next))
}

// begin lets the sink find out what the destination takes: how long its requests take, and
// then how much of a replay it can have beside them.
func (b *beside) begin(ctx context.Context, r *report.Result, stretch time.Duration) error {
	return lab.InOrder(
		func() error { return lab.Pause(ctx, stretch) },
		func() error { return b.goOn(ctx) },
		func() error { return lab.Pause(ctx, 2*stretch) },
		func() error { return b.pause(ctx, r) },
	)
}

// round is a stretch without the replay and one with it, in an order that changes.
func (b *beside) round(ctx context.Context, r *report.Result, stretch time.Duration) error {
	alone := func() error {
		b.alone = append(b.alone, books.Span{})
		return lab.Passes(ctx, stretch, &b.alone[len(b.alone)-1])()
	}
	under := func() error {
		return lab.InOrder(
			func() error { return b.goOn(ctx) },
			func() error {
				b.under = append(b.under, books.Span{})
				before := b.arrived()
				err := lab.Passes(ctx, stretch, &b.under[len(b.under)-1])()
				b.replayed = append(b.replayed, b.arrived()-before)
				return err
			},
			func() error { return b.pause(ctx, r) },
		)
	}
	r.Faults.Injected++
	if r.Faults.Injected%2 == 0 {
		return lab.InOrder(under, alone)
	}
	return lab.InOrder(alone, under)
}

// arrived is how many replayed events the receiver has taken.
func (b *beside) arrived() int { return b.lab.Books.Tally(lab.Only(b.past)).Doubled }

// goOn starts the replay, or resumes it, and waits until it sends.
func (b *beside) goOn(ctx context.Context) error {
	args := []string{"replay", "resume", "--json", b.run.ID}
	if b.run.ID == "" {
		args = []string{
			"replay", "start", "--json", "--destination", b.lab.ID("d0"), "--rate", strconv.Itoa(besideRate),
			"--from", b.from.UTC().Format(time.RFC3339), "--to", b.to.UTC().Format(time.RFC3339),
		}
	}
	before := b.arrived()
	if err := b.lab.Ask(ctx, &b.run, args...); err != nil {
		return err
	}
	return child.Until(ctx, time.Minute, "the replay to go on", func() bool { return b.arrived() > before })
}

// pause holds the run to what it says: nothing is sent a second later, and what was is
// delivered.
func (b *beside) pause(ctx context.Context, r *report.Result) error {
	var then, now run
	err := lab.InOrder(
		func() error { return b.lab.Ask(ctx, &b.run, "replay", "pause", "--json", b.run.ID) },
		func() error { return lab.Pause(ctx, pausedWithin+b.lab.Lateness()) },
		func() error { return b.lab.Ask(ctx, &then, "replay", "show", "--json", b.run.ID) },
		func() error { return b.settle(ctx) },
		func() error { return b.lab.Ask(ctx, &now, "replay", "show", "--json", b.run.ID) },
	)
	b.lab.Announce("paused with %d of %d events sent", now.Sent, b.events)
	r.Require(then.State == "paused" && now == then, "a second after a pause the replay was %+v, and later %+v", then, now)
	return err
}

// settle waits until all that was sent is delivered.
func (b *beside) settle(ctx context.Context) error {
	err := child.Until(ctx, besidePatience, "what was replayed to be delivered", func() bool {
		return b.lab.Ask(ctx, &b.run, "replay", "show", "--json", b.run.ID) == nil && b.arrived() == b.run.Sent
	})
	if err != nil {
		err = fmt.Errorf("%w: %d of %+v are", err, b.arrived(), b.run)
	}
	return err
}

// cancel ends the run, which says what it has sent.
func (b *beside) cancel(ctx context.Context, r *report.Result) error {
	err := lab.InOrder(
		func() error { return b.goOn(ctx) },
		func() error { return lab.Pause(ctx, pausedWithin) },
		func() error { return b.lab.Ask(ctx, &b.run, "replay", "cancel", "--json", b.run.ID) },
		func() error { return lab.Pause(ctx, pausedWithin+b.lab.Lateness()) },
		func() error { return b.settle(ctx) },
	)
	r.Require(err != nil || b.run.State == "cancelled" && b.run.Sent < b.events, "the replay of %d events is %+v, expected one that was cancelled in its midst", b.events, b.run)
	r.Note("cancelled when %d of %d events were sent, and as many were delivered", b.run.Sent, b.events)
	return err
}

// judge compares the stretches. What the bench itself was late is not the product's.
func (b *beside) judge(r *report.Result, stretch time.Duration) {
	live := lab.Only(b.field.Streams...)
	r.Table = &report.Table{Head: []string{"stretch", "alone: p50 / p99", "beside a replay: p50 / p99", "replayed/s"}}
	alone, under := make([]books.Phase, 0, len(b.alone)), make([]books.Phase, 0, len(b.alone))
	var rates float64
	for i := range b.alone {
		without, with := b.delivered(b.alone[i], live), b.delivered(b.under[i], live)
		alone, under = append(alone, without), append(under, with)
		rate := float64(b.replayed[i]) / stretch.Seconds()
		rates += rate / float64(len(b.replayed))
		r.Table.Add(i+1, span(without), span(with), fmt.Sprintf("%.0f", rate))
	}
	r.Before, r.During = books.Median(alone), books.Median(under)
	r.Table.Add("median", span(r.Before), span(r.During), fmt.Sprintf("%.0f", rates))
	times := float64(r.During.P99) / float64(r.Before.P99)
	r.Note("beside a replay p99 is %.2f times as long; %.0f replayed events/s beside %d live ones", times, rates, besideLive)
	most := time.Duration(maxBeside*float64(r.Before.P99)) + b.lab.Lateness()
	r.Require(r.During.P99 <= most, "p99 %s beside a replay instead of at most %s", r.During.P99, most)
	again := b.lab.Books.Tally(live)
	r.Require(again.Doubled == 0 && again.Inverted == 0, "of the live events %d were doubled and %d overtaken", again.Doubled, again.Inverted)
}

// delivered sums up how long live events of a span took until they were delivered. The books
// know when their requests came, which is besideService before they were answered.
func (b *beside) delivered(s books.Span, live func(string) bool) books.Phase {
	p := b.lab.Phase(s, live)
	p.P50, p.P99, p.Max = p.P50+besideService, p.P99+besideService, p.Max+besideService
	return p
}

func span(p books.Phase) string {
	return fmt.Sprintf("%s / %s", p.P50.Round(10*time.Microsecond), p.P99.Round(10*time.Microsecond))
}
