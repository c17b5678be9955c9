package fleetfaults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// loadEach is a load for one router and one sink, and loadAll one for the fleet,
	// whatever its size, in events a second.
	loadEach, loadAll = 250, 1000
	// maxCost is what an event may cost routers and sinks when there are four of
	// each, in terms of what it costs a single one under as much load; of a backlog it
	// is more, since four sinks have four times as many attempts in flight.
	maxCost, maxBacklogCost = 1.3, 1.6
)

// Scale measures one, two and four routers and sinks on topics of so many
// partitions: with the same load for each, with the same load for all, and with a
// backlog.
func Scale(partitions int) func(context.Context, *lab.Lab) (*report.Result, error) {
	return func(ctx context.Context, l *lab.Lab) (*report.Result, error) {
		f, err := newFleet(ctx, l, partitions, receiver.Behaviour{})
		if err != nil {
			return nil, err
		}
		sizes := []int{1, 2, 4}
		r := &report.Result{Faults: report.Faults{What: "sizes of the fleet", Claimed: len(sizes)}, Table: &report.Table{Head: []string{
			"partitions", "of each stage", "shared as: routers; sinks",
			fmt.Sprintf("%d/s for each: p50 / p99", loadEach), "µs an event: router + sink, broker",
			fmt.Sprintf("%d/s for all: p50 / p99", loadAll), "µs",
			"backlog: events/s", "µs",
		}}}
		var all []sample
		for _, n := range sizes {
			s, err := f.measure(ctx, n)
			if err != nil {
				return nil, err
			}
			r.Table.Add(partitions, n, s.shares, s.each.latency(), s.each.cost, s.all.latency(), s.all.cost, fmt.Sprintf("%.0f", s.backlog.rate()), s.backlog)
			r.Faults.Injected++
			all = append(all, s)
		}
		judge(r, all)
		return r, l.Finish(ctx, r, patience, report.Bounds{MinSent: 1}, f.all()...)
	}
}

// sample is what was measured of a fleet of one size.
type sample struct {
	shares    string // how many partitions each instance has
	each, all flow
	backlog   cost
}

// flow is a steady load.
type flow struct {
	cost
	books.Phase
}

func (f flow) latency() string {
	return fmt.Sprintf("%s / %s", f.P50.Round(100*time.Microsecond), f.P99.Round(time.Millisecond))
}

func (f *fleet) measure(ctx context.Context, n int) (s sample, err error) {
	return s, lab.InOrder(
		func() error { return f.grow(ctx, n) },
		func() (err error) { s.shares, err = f.shares(ctx); return err },
		func() (err error) {
			s.each, err = f.steady(ctx, n*loadEach, lab.Pick(f.lab, 4*time.Second, 15*time.Second))
			return err
		},
		func() (err error) {
			s.all, err = f.steady(ctx, loadAll, lab.Pick(f.lab, 4*time.Second, 15*time.Second))
			return err
		},
		func() (err error) { s.backlog, err = f.backlog(ctx, lab.Pick(f.lab, 5_000, 40_000)); return err },
	)
}

// shares says how many partitions of the topic that carries the load each router
// has, and each sink.
func (f *fleet) shares(ctx context.Context) (string, error) {
	var texts []string
	for _, stage := range []string{router, sink} {
		counts, err := f.groups[stage].Shares(ctx, f.topics[stage])
		if err != nil {
			return "", err
		}
		texts = append(texts, strings.Trim(fmt.Sprint(counts), "[]"))
	}
	return strings.Join(texts, "; "), nil
}

// judge holds the largest fleet against the smallest.
func judge(r *report.Result, all []sample) {
	first, last := all[0], all[len(all)-1]
	for _, c := range []struct {
		what       string
		times, max float64
	}{
		{"under a load for each", last.each.own() / first.each.own(), maxCost},
		{"of a backlog", last.backlog.own() / first.backlog.own(), maxBacklogCost},
	} {
		r.Note("an event %s costs the largest fleet %.2f times as much as the smallest", c.what, c.times)
		r.Require(c.times <= c.max, "an event %s costs the largest fleet %.2f times as much as the smallest instead of at most %g", c.what, c.times, c.max)
	}
}

// cost is what the processes computed for some events.
type cost struct {
	events               int
	took                 time.Duration
	router, sink, broker time.Duration
}

// own is the product's CPU time for one event, in microseconds.
func (c cost) own() float64 { return c.each(c.router + c.sink) }

func (c cost) each(d time.Duration) float64 { return float64(d.Microseconds()) / float64(c.events) }

func (c cost) rate() float64 { return float64(c.events) / c.took.Seconds() }

// String is router + sink, broker.
func (c cost) String() string {
	return fmt.Sprintf("%.0f + %.0f, %.0f", c.each(c.router), c.each(c.sink), c.each(c.broker))
}

// sum reads how much the processes have computed so far.
func (f *fleet) sum() (cost, error) {
	var c cost
	for stage, into := range map[string]*time.Duration{router: &c.router, sink: &c.sink} {
		for _, p := range f.processes[stage] {
			used, err := p.CPU()
			if err != nil {
				return c, err
			}
			*into += used
		}
	}
	var err error
	if f.lab.Broker != nil {
		c.broker, err = f.lab.Broker.CPU()
	}
	return c, err
}

// while returns what the processes computed while something was done for the events
// that it counts.
func (f *fleet) while(do func() (events int, err error)) (cost, error) {
	before, err := f.sum()
	if err != nil {
		return cost{}, err
	}
	begun := time.Now()
	events, err := do()
	if err != nil {
		return cost{}, err
	}
	took := time.Since(begun)
	after, err := f.sum()
	return cost{
		events: events, took: took,
		router: after.router - before.router, sink: after.sink - before.sink, broker: after.broker - before.broker,
	}, err
}

// steady measures a load that is nobody's limit.
func (f *fleet) steady(ctx context.Context, rate int, duration time.Duration) (flow, error) {
	sent := f.lab.Books.Tally(nil).Sent
	var span books.Span
	c, err := f.while(func() (int, error) {
		span.From = time.Now()
		err := f.lab.Under(ctx, rate, f.streams, func() error { return lab.Pause(ctx, duration) })
		span.To = time.Now()
		return f.lab.Books.Tally(nil).Sent - sent, err
	})
	if err != nil {
		return flow{}, err
	}
	_, err = f.lab.Drain(ctx, patience)
	return flow{c, f.lab.Phase(span, nil)}, err
}

// backlog has all instances stand still while about so many events are written, and
// measures how they deliver them from then on. They stand still for less than their
// sessions last, so that nobody joins or leaves.
func (f *fleet) backlog(ctx context.Context, events int) (cost, error) {
	events -= events % len(f.streams)
	for _, p := range f.all() {
		if err := p.Hold(); err != nil {
			return cost{}, err
		}
	}
	held := time.Now()
	written := f.lab.Writer.Fill(ctx, events/len(f.streams), f.streams...)
	stood := time.Since(held)
	c, measured := f.while(func() (int, error) {
		for _, p := range f.all() {
			if err := p.Release(); err != nil {
				return 0, err
			}
		}
		if written != nil {
			return 0, written
		}
		_, err := f.lab.Drain(ctx, 2*patience)
		return events, err
	})
	const session = 8 * time.Second
	if measured == nil && stood > session {
		return c, fmt.Errorf("writing a backlog of %d events took %s: the fleet lost its sessions meanwhile", events, stood)
	}
	return c, measured
}
