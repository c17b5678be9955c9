package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/session"
	"github.com/anabranch/anabranch/internal/waiting"
)

// tails are the last transactions whose ends brokers may not have written everywhere: one,
// or several where a connection was lost while the last was open.
type tails struct {
	all     []hanging.Tail
	session *session.Session // of the last
	cuts    int              // that the session had seen when the last ended
}

// Add adds a transaction that has ended. Those before it are complete by then, unless a
// connection was lost meanwhile.
func (t *tails) Add(last hanging.Tail, s *session.Session) {
	if !t.due(s) {
		t.all = nil
	}
	for i := range t.all {
		t.all[i] = t.all[i].Without(last.Partitions)
	}
	t.all = append(t.all, last)
	t.session, t.cuts = s, s.Pulse.Cuts()
}

// Begin notes what the process's predecessor may have left; nil: nothing. It is what this
// process knows better later.
func (t *tails) Begin(left *hanging.Tail) {
	if left != nil && t.session == nil {
		t.all = []hanging.Tail{*left}
	}
}

// due reports whether the end of the last may be missing where it belongs: a broker that
// ended since may have been the one to write it.
func (t *tails) due(s *session.Session) bool {
	return len(t.all) > 0 && (t.session != s || t.cuts != s.Pulse.Cuts())
}

// left looks, before the process has used its id, for what its predecessor left.
func (r *Runner) left(ctx context.Context, id string) *hanging.Tail {
	if r.tails.session != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	left, err := hanging.Left(ctx, r.set.Topics.Client, id, r.set.Writes...)
	if err != nil && ctx.Err() == nil {
		r.log.Warn("whether the last transaction of this process's predecessor was ended everywhere can't be determined", "transactional_id", id, "error", err)
	}
	return left
}

// tail is what is known of a transaction that has ended.
func (r *Runner) tail(t *Transaction, outcome Outcome) hanging.Tail {
	behind := make(map[kafka.Partition]int64)
	for p, at := range r.marks.Behind(t.fetches) {
		behind[p] = at.Next
	}
	return hanging.Tail{
		TransactionalID: r.session.Load().ID(), Partitions: t.writes.Partitions(),
		Outcome: outcome, Behind: behind, Witness: t.writes.Witness(),
	}
}

// untilCut returns a context that ends when a connection is lost behind which the last
// transaction has to be settled. What it was about may keep records from coming.
func (r *Runner) untilCut(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	s := r.session.Load()
	s.Pulse.Tell(cancel)
	if r.tails.due(s) {
		cancel()
	}
	return ctx, cancel
}

// settle has the ends of the last transactions written where a broker that was lost may
// have failed to, before the next one decides about their records. It waits for brokers
// that are gone: no transaction could end either.
func (r *Runner) settle(ctx context.Context) error {
	for pause := waiting.First; r.tails.due(r.session.Load()); pause = waiting.Next(pause) {
		err := r.settleOnce(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case kafka.Fenced(err):
			return fmt.Errorf("write the end of the last transaction once more: %w", err)
		default:
			r.log.Warn("end of the last transaction can't be written once more, nothing is processed before it is, retrying", "error", err)
			waiting.Sleep(ctx, pause)
		}
	}
	return nil
}

// settleOnce leaves out those of another id: they wait for a partition that has no leader,
// and their coordinator knows it.
func (r *Runner) settleOnce(ctx context.Context) error {
	s := r.session.Load()
	cuts := s.Pulse.Cuts()
	r.begun = time.Now() // brokers bound this transaction as any other
	id, epoch, err := s.Client().ProducerID(ctx)
	for _, tail := range r.tails.all {
		if err == nil && tail.TransactionalID == s.ID() {
			err = r.hanging.Settle(ctx, tail, id, epoch)
		}
	}
	if err == nil {
		r.tails, r.begun = tails{session: s, cuts: cuts}, time.Time{}
	}
	return err
}
