package fleetfaults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

// Comparison is a router and a sink with a setting, beside the same without.
type Comparison struct {
	With, Without string // the setting, as VARIABLE=value
	// Router and Sink are what an event may cost each stage with it, in terms of what it
	// costs without; zero: no bound.
	Router, Sink float64
}

// turns are what was measured with a setting.
type turns struct {
	backlogs []cost
	flows    []books.Phase
}

// Compare measures a comparison. Processes with the setting and without it take turns, so
// that both see the same machine: each time they deliver a backlog, and then a steady load.
func Compare(c Comparison) func(context.Context, *lab.Lab) (*report.Result, error) {
	return func(ctx context.Context, l *lab.Lab) (*report.Result, error) {
		f, err := newFleet(ctx, l, 6, receiver.Behaviour{})
		if err != nil {
			return nil, err
		}
		r := &report.Result{Faults: report.Faults{What: "rounds", Claimed: lab.Pick(l, 2, 6)}}
		var with, without turns
		for r.Faults.Injected < r.Faults.Claimed {
			order := []func() error{
				func() error { return f.turn(ctx, &with, c.With) },
				func() error { return f.turn(ctx, &without, c.Without) },
			}
			if r.Faults.Injected%2 == 1 {
				slices.Reverse(order)
			}
			if err := lab.InOrder(order...); err != nil {
				return nil, err
			}
			r.Faults.Injected++
		}
		c.judge(r, with, without)
		return r, l.Finish(ctx, r, patience, report.Bounds{MinSent: 1}, f.all()...)
	}
}

// turn has a router and a sink with a setting take the place of those before.
func (f *fleet) turn(ctx context.Context, into *turns, setting string) error {
	for _, p := range f.all() {
		if err := f.lab.Stop(p); err != nil {
			return err
		}
	}
	clear(f.processes)
	if err := f.grow(ctx, 1, setting); err != nil {
		return err
	}
	c, err := f.backlog(ctx, lab.Pick(f.lab, 20_000, 100_000))
	if err != nil {
		return err
	}
	s, err := f.steady(ctx, loadAll, lab.Pick(f.lab, 2*time.Second, 5*time.Second))
	into.backlogs, into.flows = append(into.backlogs, c), append(into.flows, s.Phase)
	return err
}

func (c *Comparison) judge(r *report.Result, with, without turns) {
	r.Table = &report.Table{Head: []string{"", "backlogs: events/s", "µs an event: router + sink, broker", fmt.Sprintf("%d/s: p50 / p99", loadAll)}}
	r.Table.Add(without.cells(c.Without)...)
	r.Table.Add(with.cells(c.With)...)
	a, b := with.sum(), without.sum()
	for _, s := range []struct {
		stage      string
		times, max float64
	}{
		{router, a.each(a.router) / b.each(b.router), c.Router},
		{sink, a.each(a.sink) / b.each(b.sink), c.Sink},
	} {
		r.Note("with %s an event costs the %s %.3f times as much", c.With, s.stage, s.times)
		r.Require(s.max == 0 || s.times <= s.max, "with %s an event costs the %s %.3f times as much instead of at most %g", c.With, s.stage, s.times, s.max)
	}
}

// sum is what all backlogs cost together.
func (t turns) sum() (all cost) {
	for _, c := range t.backlogs {
		all.events += c.events
		all.took += c.took
		all.router += c.router
		all.sink += c.sink
		all.broker += c.broker
	}
	return all
}

func (t turns) cells(name string) []any {
	all := t.sum()
	return []any{
		name, fmt.Sprintf("%.0f", all.rate()),
		fmt.Sprintf("%.2f + %.2f, %.2f", all.each(all.router), all.each(all.sink), all.each(all.broker)),
		flow{Phase: books.Median(t.flows)}.latency(),
	}
}
