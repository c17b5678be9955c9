package fleetfaults

import (
	"context"
	"slices"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/membership"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// maxPause is what an event may take that passes by the instance restarted.
	maxPause = time.Second
	// maxOwnPause is what one may take that waits for its return.
	maxOwnPause = 5 * time.Second
)

// Static restarts routers and sinks under names that they keep, by SIGTERM and by
// kill -9, and has them back before their sessions end: no partition moves, and
// nobody else's events wait.
func Static(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate, members, partitions = 400, 3, 6
	restarts := lab.Pick(l, 4, 16)
	duration := time.Duration(restarts) * 5 * time.Second
	f, err := newFleet(ctx, l, partitions, receiver.Behaviour{Delay: 10 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	if err = f.grow(ctx, members, "INSTANCE_RETURNS=true"); err != nil {
		return nil, err
	}
	plan := l.Moments(restarts, duration)
	l.Announce("a restart at %v: of a router by SIGTERM, of a sink, of a router by kill -9, of a sink", lab.Legible(plan))
	r := &report.Result{Faults: report.Faults{What: "restarts", Claimed: restarts}}
	all := make([]outage, restarts)
	err = l.Under(ctx, rate, f.streams, func() error {
		return lab.At(ctx, plan, duration, func(i int) (err error) {
			r.Faults.Injected++
			all[i], err = f.restart(ctx, i, members)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	if _, err = l.Drain(ctx, patience); err != nil {
		return nil, err
	}
	f.judge(r, all)
	kills := restarts / 4
	return r, l.Finish(ctx, r, time.Second, report.Bounds{
		MinSent: lab.AtLeast(rate, duration), MaxDoubled: kills * lab.InFlight, MaxInverted: 0,
	}, f.all()...)
}

// outage is one restart.
type outage struct {
	stage  string
	kill   bool
	others []*load.Stream // whose events did not need the instance
	span   books.Span     // from the stop until some time after it was ready again
	moved  bool           // some partition is another instance's now
	rounds int32          // of joins, of the whole group
}

// kind is how the report names it.
func (o outage) kind() string {
	if o.kill {
		return o.stage + " by kill -9"
	}
	return o.stage + " by SIGTERM"
}

// choose takes the stages in turn, stops two of them in order, kills the next two,
// and goes on with the next instance.
func choose(i, members int) (stage string, kill bool, n int) {
	return []string{router, sink}[i%2], i/2%2 == 1, i / 4 % members
}

// restart is the i-th restart. It is over a second after the instance is ready: what
// the others have to wait for would show by then.
func (f *fleet) restart(ctx context.Context, i, members int) (outage, error) {
	stage, kill, n := choose(i, members)
	o := outage{stage: stage, kill: kill}
	group, topic := f.groups[stage], f.topics[stage]
	before, err := group.Members(ctx)
	if err != nil {
		return o, err
	}
	generation, err := group.Generation(ctx)
	if err != nil {
		return o, err
	}
	o.others = without(f.streams, membership.Of(before, instance(stage, n), topic))
	p := f.processes[stage][n]
	end := func() error { return f.lab.Stop(p) }
	if kill {
		end = p.Kill
	}
	o.span.From = time.Now()
	err = lab.InOrder(end, p.Start, func() error { return p.Ready(ctx) }, func() error { return lab.Pause(ctx, time.Second) })
	o.span.To = time.Now()
	if err != nil {
		return o, err
	}
	if err = group.Settled(ctx, members, topic, len(f.streams)); err != nil {
		return o, err
	}
	after, err := group.Members(ctx)
	if err != nil {
		return o, err
	}
	for i := range members {
		name := instance(stage, i)
		o.moved = o.moved || !slices.Equal(membership.Of(before, name, topic), membership.Of(after, name, topic))
	}
	o.rounds, err = group.Generation(ctx)
	o.rounds -= generation
	return o, err
}

// judge looks at the slowest events of each kind of restart. A router that is killed
// leaves a transaction open, behind which nothing is delivered until its return ends
// it; so the others wait for that too.
//
// A group's leader plans anew when it is back, knowing less than it did before, and
// asks for a round of joins when its plan is another than the one in force. Members
// then say what they have, and keep it.
func (f *fleet) judge(r *report.Result, all []outage) {
	late := f.lab.Lateness()
	for _, kind := range kinds(all) {
		var others, own time.Duration
		var moved int
		var rounds int32
		bystanders := kind != outage{stage: router, kill: true}.kind()
		for _, o := range all {
			if o.kind() != kind {
				continue
			}
			others = max(others, f.lab.Phase(o.span, lab.Only(o.others...)).Max)
			own = max(own, f.lab.Phase(o.span, nil).Max)
			rounds += o.rounds
			if o.moved {
				moved++
			}
		}
		r.Note("%s: slowest event %s, of the others' %s, %d rounds of joins", kind, own.Round(time.Millisecond), others.Round(time.Millisecond), rounds)
		r.Require(moved == 0, "%s: partitions moved %d times", kind, moved)
		r.Require(!bystanders || others <= maxPause+late, "%s: an event of another's took %s instead of at most %s", kind, others, maxPause)
		r.Require(own <= maxOwnPause+late, "%s: an event took %s instead of at most %s", kind, own, maxOwnPause)
	}
}

// kinds are those that happened, in the order in which they did.
func kinds(all []outage) []string {
	var names []string
	met := make(map[string]bool)
	for _, o := range all {
		if !met[o.kind()] {
			met[o.kind()] = true
			names = append(names, o.kind())
		}
	}
	return names
}
