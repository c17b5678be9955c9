package fleetfaults

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

// ComeAndGo has routers and sinks join, and leave by SIGTERM. Those that leave do not
// come back to their places, so the others take over at once.
func ComeAndGo(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate, members, present, partitions = 400, 4, 2, 6
	steps := lab.Pick(l, 4, 24)
	duration := time.Duration(steps) * 5 * time.Second
	f, err := newFleet(ctx, l, partitions, receiver.Behaviour{Delay: 50 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	if err = f.grow(ctx, present, "INSTANCE_RETURNS=false"); err != nil {
		return nil, err
	}
	plans := map[string][]lab.Step{router: lab.Crowd(l.Rand.IntN, members, present, steps), sink: lab.Crowd(l.Rand.IntN, members, present, steps)}
	when := l.Moments(steps, duration)
	l.Announce("routers joining and leaving %v, sinks %v, in turn at %v", plans[router], plans[sink], lab.Legible(when))
	there, err := f.crowd(members)
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "joins and leaves", Claimed: steps}}
	var span books.Span
	err = l.Under(ctx, rate, f.streams, func() error {
		span.From = time.Now()
		defer func() { span.To = time.Now() }()
		return lab.At(ctx, when, duration, func(i int) error {
			stage := []string{router, sink}[i%2]
			r.Faults.Injected++
			return there.take(stage, plans[stage][i/2])
		})
	})
	if err != nil {
		return nil, err
	}
	drained, err := l.Drain(ctx, patience)
	if err != nil {
		return nil, err
	}
	all := l.Phase(span, nil)
	r.Note("p50 %s, p99 %s, slowest event %s, all delivered %s after the load",
		all.P50.Round(time.Millisecond), all.P99.Round(time.Millisecond), all.Max.Round(time.Millisecond), drained.Round(100*time.Millisecond))
	r.Require(all.Max <= maxOwnPause+l.Lateness(), "an event took %s instead of at most %s", all.Max, maxOwnPause)
	return r, l.Finish(ctx, r, time.Second, report.Bounds{MinSent: lab.AtLeast(rate, duration)}, there.present()...)
}

// gathering are the members of both stages that there may be, and who of them is
// there.
type gathering struct {
	lab *lab.Lab
	all map[string][]*child.Process
	in  map[*child.Process]bool
}

// crowd makes the members that are not there yet.
func (f *fleet) crowd(members int) (*gathering, error) {
	g := &gathering{lab: f.lab, all: make(map[string][]*child.Process), in: make(map[*child.Process]bool)}
	for stage, present := range f.processes {
		for _, p := range present {
			g.in[p] = true
		}
		g.all[stage] = present
		for i := len(present); i < members; i++ {
			p, err := f.lab.Stage(stage, i, "INSTANCE_RETURNS=false")
			if err != nil {
				return nil, err
			}
			g.all[stage] = append(g.all[stage], p)
		}
	}
	return g, nil
}

// take takes one step.
func (g *gathering) take(stage string, s lab.Step) error {
	p := g.all[stage][s.Member]
	if g.in[p] = s.Joins; s.Joins {
		return p.Start()
	}
	if err := g.lab.Stop(p); err != nil {
		return fmt.Errorf("leave: %w", err)
	}
	return nil
}

// present are those that are there, routers first.
func (g *gathering) present() []*child.Process {
	var here []*child.Process
	for _, stage := range []string{router, sink} {
		for _, p := range g.all[stage] {
			if g.in[p] {
				here = append(here, p)
			}
		}
	}
	return here
}
