package stagefaults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

// RollSink restarts three sinks in turn, as a deployment does. Some events fail
// at first, so that retries are in flight too when a sink stops, and one receiver
// takes so long that each stop has to wait for it.
func RollSink(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate, slowRate, members, keys = 1000, 10, 3, 500
	restarts, duration := lab.Pick(l, 3, 15), lab.Pick(l, 10*time.Second, 2*time.Minute)
	slow := receiver.Behaviour{Delay: lab.Pick(l, time.Second, 3*time.Second)}
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 4, Keys: keys, Sinks: members, Behave: func(i int) receiver.Behaviour {
		if i == 0 {
			return slow
		}
		return receiver.Behaviour{Delay: 10 * time.Millisecond, FailEvery: 10}
	}})
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "restarts", Claimed: restarts}}
	plan := l.Moments(restarts, duration)
	l.Announce("SIGTERM and start of one sink after the other at %v", lab.Legible(plan))
	err = l.Under(ctx, rate, f.Streams[1:], func() error {
		return l.Under(ctx, slowRate, f.Streams[:1], func() error {
			return lab.At(ctx, plan, duration, func(i int) error {
				r.Faults.Injected++
				return restart(ctx, l, f.Sinks[i%members])
			})
		})
	})
	if err != nil {
		return nil, err
	}
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{MinSent: lab.AtLeast(rate, duration), MaxInverted: -1}, f.Sinks...)
}

func restart(ctx context.Context, l *lab.Lab, p *child.Process) error {
	if err := l.Stop(p); err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	return p.Ready(ctx)
}

// JoinLeave has twelve members come and go while receivers take their time, so
// that every rebalance finds attempts in flight.
func JoinLeave(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate, members, present = 300, 12, 4
	steps, duration := lab.Pick(l, 6, 48), lab.Pick(l, 12*time.Second, 2*time.Minute)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 4, Keys: 500, Sinks: present, Behave: func(i int) receiver.Behaviour {
		return receiver.Behaviour{Delay: time.Duration(i+1) * 50 * time.Millisecond}
	}})
	if err != nil {
		return nil, err
	}
	all := slices.Clone(f.Sinks)
	for i := present; i < members; i++ {
		p, makeErr := l.Stage("webhook-sink", i)
		if makeErr != nil {
			return nil, makeErr
		}
		all = append(all, p)
	}
	r := &report.Result{Faults: report.Faults{What: "joins and leaves", Claimed: steps}}
	plan, when := lab.Crowd(l.Rand.IntN, members, present, steps), l.Moments(steps, duration)
	l.Announce("members joining and leaving %s at %v", strings.Trim(fmt.Sprint(plan), "[]"), lab.Legible(when))
	there := f.Sinks
	err = l.Under(ctx, rate, f.Streams, func() error {
		return lab.At(ctx, when, duration, func(i int) error {
			p := all[plan[i].Member]
			r.Faults.Injected++
			if plan[i].Joins {
				there = append(there, p)
				return p.Start()
			}
			there = slices.DeleteFunc(there, func(other *child.Process) bool { return other == p })
			return l.Stop(p)
		})
	})
	if err != nil {
		return nil, err
	}
	// A static member that left is missed after its session's eight seconds, and
	// its partitions wait for as long.
	return r, l.Finish(ctx, r, 20*time.Second, report.Bounds{MinSent: lab.AtLeast(rate, duration)}, there...)
}
