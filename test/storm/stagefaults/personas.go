package stagefaults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

// activeFor is the window of the audience whose members leave by themselves.
const activeFor = 2 * time.Second

// KillPersonas kills two processes that share the users, stops them in their tracks and
// takes their disks away, under calls that have audiences and traits change all the time.
func KillPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 100
	faults, duration := lab.Pick(l, 6, 100), lab.Pick(l, 24*time.Second, 15*time.Minute)
	if err := l.Open(ctx, 6); err != nil {
		return nil, err
	}
	p := newPeople(l.ID("people"))
	if err := l.Define(ctx, p.definitions()); err != nil {
		return nil, err
	}
	stages, err := startPersonas(ctx, l)
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills and stops", Claimed: faults}}
	calling, enough := context.WithCancel(ctx)
	defer enough()
	called := make(chan error, 1)
	go func() { called <- p.call(calling, l.Writer.Client, rate) }()
	if err = harm(ctx, l, stages, duration, &r.Faults); err != nil {
		return nil, err
	}
	enough()
	if err = <-called; err != nil {
		return nil, err
	}
	began := time.Now()
	var found findings
	settled := func() bool {
		found, err = p.judge(ctx, l.Kafka)
		return err == nil && found.settled()
	}
	if waited := child.Until(ctx, 90*time.Second, "all changes to be told", settled); err != nil {
		return nil, err
	} else if waited == nil {
		r.Note("settled %s after the load", time.Since(began).Round(100*time.Millisecond))
	}
	l.Exit(r, stages...)
	r.Sent, r.Lost, r.Doubled = found.calls, found.missing, found.doubled
	r.Note("of %d changes", found.due)
	r.Require(found.wrong == "", "a change is not what the log says: %s", found.wrong)
	r.Judge(report.Bounds{MinSent: lab.AtLeast(rate, duration)})
	return r, nil
}

// startPersonas starts two processes, and waits until all partitions have begun: what
// comes from then on is no history.
func startPersonas(ctx context.Context, l *lab.Lab) ([]*child.Process, error) {
	var stages []*child.Process
	for i := range 2 {
		p, err := l.Stage("personas", i, "PERSONAS_DATA_DIR="+disk(l, i))
		if err != nil {
			return nil, err
		}
		if err = launch(ctx, p); err != nil {
			return nil, err
		}
		stages = append(stages, p)
	}
	return stages, child.Until(ctx, time.Minute, "personas to begin all partitions", func() bool {
		n, err := l.Begun(ctx, schemas.OwnPrefix+"personas", schemas.TopicPersonasInternal)
		return err == nil && n == 6
	})
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

// people are the users of one run, and what is computed of them. Nobody else has their ids,
// nor the definitions', so that a broker can serve run after run.
type people struct{ run, suffix string }

const howMany = 211

func newPeople(run string) *people {
	suffix := strconv.FormatInt(time.Now().UnixMilli(), 10)
	return &people{run + "-" + suffix, suffix}
}

func (p *people) definitions() string {
	return strings.NewReplacer("ID", p.suffix, "WINDOW", activeFor.String()).Replace(`audiences:
  - {id: active_ID, when: {did: Storm, within: WINDOW}}
  - {id: regulars_ID, when: {did: Storm, times: {gte: 3}}}
traits:
  - {id: storms_ID, take: count, did: Storm}
`)
}

// call has users do something at a rate until ctx ends, in an order that leaves gaps as
// long as the window.
func (p *people) call(ctx context.Context, cl *kgo.Client, rate int) error {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		user := fmt.Sprintf("%s-u%d", p.run, n*n%howMany)
		id := fmt.Sprintf("%s-%d", p.run, n)
		rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte(user), Value: fmt.Appendf(nil,
			`{"type":"track","messageId":%q,"userId":%q,"event":"Storm","properties":{},"timestamp":%q,"context":{}}`, id, user, time.Now().UTC().Format(schemas.TimeLayout))}
		kafka.SetHeaders(rec, &schemas.Headers{Source: lab.Source, Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI})
		cl.Produce(context.WithoutCancel(ctx), rec, nil)
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return cl.Flush(context.WithoutCancel(ctx))
}

// judge reads the log and compares what was told with what follows from it.
func (p *people) judge(ctx context.Context, opts []kgo.Opt) (findings, error) {
	s := newSums(p)
	err := load.ReadRecords(ctx, opts, schemas.TopicRawEvents, s.see)
	return s.findings(), err
}
