package stagefaults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/membership"
	"github.com/anabranch/anabranch/test/storm/network"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// personasRate is that of the calls, in calls per second.
	personasRate = 100
	// callsPerFault is a hundredth of the calls that there are for each fault of a long row on
	// a machine with time for it.
	callsPerFault = 10
	// partitions is how many each topic has.
	partitions = 6
)

// KillPersonas kills two processes that share the users, stops them in their tracks and
// takes their disks away, under calls that have audiences and traits change all the time.
func KillPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	faults, duration := lab.Pick(l, 6, 100), lab.Pick(l, 24*time.Second, 15*time.Minute)
	r := &report.Result{Faults: report.Faults{What: "kills and stops", Claimed: faults}}
	return r, underCalls(ctx, l, r, 2, func(stages []*child.Process) error {
		return harm(ctx, l, stages, duration, &r.Faults)
	})
}

// BrokerKillPersonas kills the broker and starts it again, under the same calls.
func BrokerKillPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	cycles := lab.Pick(l, 2, 10)
	r := &report.Result{Faults: report.Faults{What: "kills of the broker", Claimed: cycles}}
	return r, underCalls(ctx, l, r, 2, func([]*child.Process) error {
		broker, mortal := l.Broker.(lab.Mortal)
		if !mortal {
			return errors.New("the broker can't be started again")
		}
		for range cycles {
			err := lab.InOrder(
				func() error { return lab.Pause(ctx, 4*time.Second+time.Duration(l.Rand.Int64N(int64(6*time.Second)))) },
				broker.Kill,
				func() error {
					r.Faults.Injected++
					return lab.Pause(ctx, time.Duration(l.Rand.Int64N(int64(3*time.Second))))
				},
				broker.Start,
			)
			if err != nil {
				return err
			}
		}
		return lab.Pause(ctx, 15*time.Second)
	})
}

// CutPersonas cuts the networks of two processes that share the users, one or both of
// them: connections end and no other comes about, or nothing passes on those that there
// are. Most cuts are short, and some are longer than brokers wait for a member of a group
// or for the end of a transaction.
func CutPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	cuts, duration := lab.Pick(l, 6, 100), lab.Pick(l, 30*time.Second, 15*time.Minute)
	r := &report.Result{Faults: report.Faults{What: "cuts of a network", Claimed: cuts}}
	var networks []*network.Network
	for range 2 {
		n, err := network.New(ctx, func() string { return l.Brokers })
		if err != nil {
			return nil, err
		}
		l.OnClose(n.Close)
		networks = append(networks, n)
	}
	return r, underCalls(ctx, l, r, len(networks), func([]*child.Process) error {
		plan := l.Moments(cuts, duration)
		l.Announce("cut networks of personas at %v", lab.Legible(plan))
		return lab.At(ctx, plan, duration, func(i int) error {
			r.Faults.Injected++
			return cut(ctx, l, i, networks)
		})
	}, networks...)
}

// cut cuts some networks for some time. What kind of a cut it is comes in turn, so that
// none is missing from a short run.
func cut(ctx context.Context, l *lab.Lab, i int, networks []*network.Network) error {
	chosen := networks[i/2%2 : i/2%2+1]
	if i%5 == 4 {
		chosen = networks
	}
	lasts := time.Duration(l.Rand.Int64N(int64(3 * time.Second)))
	if i%10 == 5 {
		lasts = 12 * time.Second
	}
	for _, n := range chosen {
		if i%2 == 0 {
			n.Cut()
		} else {
			n.Silence()
		}
	}
	err := lab.Pause(ctx, lasts)
	for _, n := range chosen {
		n.Mend()
	}
	return err
}

// JoinPersonas has one, two and four processes share the users: they join, leave by
// SIGTERM, and come back, each to its own disk.
func JoinPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	steps, each := lab.Pick(l, 6, 24), lab.Pick(l, 4*time.Second, 10*time.Second)
	const members = 4
	r := &report.Result{Faults: report.Faults{What: "joins and leaves", Claimed: steps}}
	return r, underCalls(ctx, l, r, 1, func(stages []*child.Process) error {
		all := stages
		for i := len(stages); i < members; i++ {
			p, err := personasStage(l, i)
			if err != nil {
				return err
			}
			all = append(all, p)
		}
		present := len(stages)
		up, slowest := true, time.Duration(0)
		defer func() { r.Note("longest way out %s", slowest.Round(10*time.Millisecond)) }()
		for range steps { // 1 2 3 4 3 2 1 2 …
			if up = present == 1 || up && present < members; up {
				if err := all[present].Launch(ctx); err != nil {
					return err
				}
				present++
			} else {
				present--
				took, err := all[present].Stop()
				if err != nil {
					return err
				}
				slowest = max(slowest, took)
			}
			r.Faults.Injected++
			if err := lab.Pause(ctx, each); err != nil {
				return err
			}
		}
		return nil
	})
}

// StaticPersonas restarts processes under names that they keep, by SIGTERM and by kill -9,
// and has them back before their sessions end: no partition moves.
func StaticPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	restarts := lab.Pick(l, 4, 12)
	const members = 3
	r := &report.Result{Faults: report.Faults{What: "restarts", Claimed: restarts}}
	return r, underCalls(ctx, l, r, members, func(stages []*child.Process) error {
		group := &membership.Group{Client: l.Writer.Client, Name: schemas.OwnPrefix + "personas"}
		own := func() (map[int][]int32, error) {
			if err := group.Settled(ctx, members, schemas.TopicRawEvents, partitions); err != nil {
				return nil, err
			}
			all, err := group.Members(ctx)
			of := make(map[int][]int32)
			for i := range members {
				of[i] = membership.Of(all, fmt.Sprintf("personas-storm-personas-%d", i), schemas.TopicRawEvents)
				if err == nil && len(of[i]) == 0 {
					err = fmt.Errorf("personas-%d has no partitions: %v", i, all)
				}
			}
			return of, err
		}
		for i := range restarts {
			before, err := own()
			if err != nil {
				return err
			}
			p, end := stages[i/2%members], stages[i/2%members].Kill
			if i%2 == 0 {
				end = func() error { return l.Stop(p) }
			}
			r.Faults.Injected++
			if err = lab.InOrder(end, p.Start, func() error { return p.Ready(ctx) }, func() error { return lab.Pause(ctx, time.Second) }); err != nil {
				return err
			}
			after, err := own()
			if err != nil {
				return err
			}
			r.Require(maps.EqualFunc(before, after, slices.Equal), "partitions have moved at restart %d: %v before, %v after", i+1, before, after)
		}
		return nil
	})
}

// underCalls has processes of personas fold calls while something is done to them, and
// judges what was told then. The first of them are behind networks of their own, if there
// are any.
func underCalls(ctx context.Context, l *lab.Lab, r *report.Result, processes int, do func([]*child.Process) error, behind ...*network.Network) error {
	if err := l.Open(ctx, partitions); err != nil {
		return err
	}
	p := newPeople(l.ID("people"))
	if err := l.Define(ctx, p.definitions()); err != nil {
		return err
	}
	stages, err := startPersonas(ctx, l, processes, behind...)
	if err != nil {
		return err
	}
	if err = p.await(ctx, l); err != nil {
		return err
	}
	calling, enough := context.WithCancel(ctx)
	defer enough()
	called := make(chan error, 1)
	go func() { called <- p.call(calling, l.Writer.Client, personasRate) }()
	if err = do(stages); err != nil {
		return err
	}
	enough()
	if err = <-called; err != nil {
		return err
	}
	began := time.Now()
	var found findings
	settled := func() bool {
		found, err = p.judge(ctx, l.Kafka)
		// Who reads the log gives up when brokers are silent for a second.
		return err == nil && found.settled() && int64(found.calls) >= p.acknowledged.Load()
	}
	if waited := child.Until(ctx, 90*time.Second, "all changes to be told", settled); err != nil {
		return err
	} else if waited == nil {
		r.Note("settled %s after the load", time.Since(began).Round(100*time.Millisecond))
	}
	l.Exit(r, stages...)
	r.Sent, r.Lost, r.Doubled = found.calls, found.missing, found.doubled
	r.Note("of %d changes, by %d calls", found.due, p.made)
	r.Require(found.wrong == "", "a change is not what the log says: %s", found.wrong)
	r.Judge(report.Bounds{MinSent: p.least(r.Faults.Claimed)})
	return nil
}

// startPersonas starts processes.
func startPersonas(ctx context.Context, l *lab.Lab, n int, behind ...*network.Network) ([]*child.Process, error) {
	var stages []*child.Process
	for i := range n {
		var env []string
		if i < len(behind) {
			env = []string{"KAFKA_BROKERS=" + behind[i].Addr()}
		}
		p, err := personasStage(l, i, env...)
		if err != nil {
			return nil, err
		}
		if err = p.Launch(ctx); err != nil {
			return nil, err
		}
		stages = append(stages, p)
	}
	return stages, nil
}

func personasStage(l *lab.Lab, i int, env ...string) (*child.Process, error) {
	return l.Stage("personas", i, append(env, "PERSONAS_DATA_DIR="+disk(l, i))...)
}

func disk(l *lab.Lab, i int) string { return filepath.Join(l.Dir, fmt.Sprintf("users-%d", i)) }

// harm does something to one of the stages at each moment of a plan: a kill, one that
// takes the disk too, or a stop for up to three seconds, and now and then for so long that
// brokers end its transaction.
func harm(ctx context.Context, l *lab.Lab, stages []*child.Process, over time.Duration, faults *report.Faults) error {
	plan := l.Moments(faults.Claimed, over)
	l.Announce("harm to personas at %v", lab.Legible(plan))
	err := lab.At(ctx, plan, over, func(int) error {
		i, what := l.Rand.IntN(len(stages)), l.Rand.IntN(8)
		stop := time.Duration(l.Rand.Int64N(int64(3 * time.Second)))
		if what == 7 && faults.Claimed > 50 {
			stop = 12 * time.Second
		}
		faults.Injected++
		if what >= 5 {
			return hold(ctx, stages[i], stop)
		}
		if err := stages[i].Kill(); err != nil {
			return err
		}
		if what >= 3 {
			if err := os.RemoveAll(disk(l, i)); err != nil {
				return err
			}
		}
		return stages[i].Start()
	})
	if err != nil {
		return err
	}
	for _, p := range stages {
		if err = p.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

func hold(ctx context.Context, p *child.Process, d time.Duration) error {
	if err := p.Hold(); err != nil {
		return err
	}
	if err := lab.Pause(ctx, d); err != nil {
		return err
	}
	return p.Release()
}
