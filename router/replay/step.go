package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/schemas"
)

// step sends what may be sent now, to all destinations in one transaction; else wait says
// how long there is nothing to do.
func (e *errand) step(ctx context.Context) (wait time.Duration, err error) {
	if err = bounded(ctx, e.renew, e.rooms); err != nil {
		return 0, err
	}
	wait, all, err := e.gather(ctx)
	if err != nil || len(all) == 0 {
		return wait, err
	}
	return 0, bounded(ctx, func(ctx context.Context) error {
		for _, some := range apart(all) {
			if err := e.commit(ctx, some); err != nil {
				return err
			}
		}
		return nil
	})
}

// bounded does what belongs to a step in its time, also after the stage is told to stop.
func bounded(ctx context.Context, all ...func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	for _, do := range all {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// gather puts together what may be sent now; else wait says how long there is nothing to do.
func (e *errand) gather(ctx context.Context) (wait time.Duration, all []*load, err error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	wait = idle
	for _, l := range e.legs {
		until, some, err := l.gather(ctx, e)
		if err != nil {
			return 0, nil, lost(err)
		}
		if some != nil {
			all = append(all, some)
		}
		wait = min(wait, until)
	}
	return wait, all, nil
}

// apart puts loads together that may share a transaction: all but those under suspicion,
// each of which has its own, behind that of the others.
func apart(all []*load) (transactions [][]*load) {
	var good, suspects []*load
	for _, some := range all {
		if some.leg.hold.suspect {
			suspects = append(suspects, some)
		} else {
			good = append(good, some)
		}
	}
	if len(good) > 0 {
		transactions = append(transactions, good)
	}
	for _, some := range suspects {
		transactions = append(transactions, []*load{some})
	}
	return transactions
}

// renew takes the terms that are in force now.
func (e *errand) renew(ctx context.Context) error {
	if time.Since(e.renewed) > renewEvery {
		if err := e.source.update(ctx); err != nil {
			return err
		}
		e.renewed = time.Now()
	}
	e.terms.deleted = e.source.deleted
	e.terms.workspace, e.terms.today = e.s.set.Workspace.Load(), e.entry.Run.CreatedAt
	if e.terms.judge == nil {
		e.terms.judge = e.s.set.Judge()
	}
	users := e.s.set.Register
	if users == nil {
		return nil
	}
	if keys, n := users.Suppressed.Missing(); n > 0 {
		return fmt.Errorf("users (%d) are suppressed under keys that SUPPRESSION_KEY of this process lacks (%s), so their events can't be left out: set it as ingest has it", n, strings.Join(keys, ", "))
	}
	e.terms.suppressed = users.Suppressed.Has
	return nil
}

// commit writes the loads in one transaction with how far their parts are then.
func (e *errand) commit(ctx context.Context, all []*load) error {
	var events, marks []*kgo.Record
	now := time.Now()
	for _, some := range all {
		some.stamp(now)
		mark, err := record(some.part, kindPart, e.id, some.leg.destination)
		if err != nil {
			return err
		}
		events, marks = append(events, some.events...), append(marks, mark)
	}
	// The topic of runs comes last: from its first record of an open transaction on nobody
	// sees what others write to it.
	err := e.writer.Write(ctx, events, marks)
	if err != nil {
		return e.failed(err, all)
	}
	e.beaten = now
	for _, some := range all {
		some.leg.sent(some, now)
		e.s.metrics.count(some.leg.destination, some.before, some.part)
	}
	return nil
}

// failed finds out whom a transaction failed for, so that it costs the others no more than
// one attempt: who is under suspicion writes alone.
func (e *errand) failed(err error, all []*load) error {
	for _, some := range all {
		some.leg.reset()
	}
	if kafka.Fenced(err) {
		return fenced(err)
	}
	var about *txn.RecordError
	known := errors.As(err, &about)
	culprit := all[0]
	if known {
		destination, _ := schemas.ReplayedTo(about.Record.Topic)
		i := slices.IndexFunc(all, func(some *load) bool { return some.leg.destination == destination })
		if i < 0 {
			return err // it is the topic of runs
		}
		culprit = all[i]
	}
	switch {
	case known && kafka.TooLarge(err):
		culprit.shrink(err, e.s.log)
		return nil
	case known:
		culprit.leg.hold.fail("its topic accepts no records: "+about.Err.Error(), time.Now())
		return nil
	case len(all) == 1 && len(culprit.events) > 0:
		culprit.leg.hold.fail("its topic accepts no records: "+err.Error(), time.Now())
	default:
		for _, some := range all {
			some.leg.hold.suspect = true
		}
	}
	return err // the writer may be of no more use
}

// rooms looks how much of what was sent waits at the destinations, for those of which that
// was looked at too long ago.
func (e *errand) rooms(ctx context.Context) error {
	now := time.Now()
	of := make(map[string][]string) // topics, by the group that reads them
	for _, l := range e.legs {
		if l.part.State != Open || now.Sub(l.looked) < idle {
			continue
		}
		topic := schemas.ReplayTopic(l.destination)
		readers := e.s.set.Readers(topic)
		if len(readers) == 0 {
			return fmt.Errorf("no stage reads %s: expected the webhook sink to", topic)
		}
		of[readers[0]] = append(of[readers[0]], topic)
	}
	for group, topics := range of {
		refused, err := e.s.set.Topics.Create(ctx, topics...)
		if err != nil {
			return err
		}
		lags, err := groups.Lags(ctx, e.s.set.Topics.Client, group, topics...)
		if err != nil {
			return err
		}
		for _, l := range e.legs {
			if topic := schemas.ReplayTopic(l.destination); slices.Contains(topics, topic) {
				l.look(lags[topic], refused[topic], e.entry.Run.Rate, now)
			}
		}
	}
	e.s.metrics.waiting.Add(float64(e.waiting(true)))
	return nil
}
