package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/pace"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/writes"
)

// transact processes the records, and what else has been fetched, in one transaction.
// False with no error means that nothing of it happened: the session has rewound and
// the same records come again. ctx must outlive the request to stop: a session whose
// End was cancelled is in an unknown state.
func (r *Runner) transact(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches) (bool, error) {
	if err := s.Begin(); err != nil {
		return false, fmt.Errorf("begin transaction: %w", err)
	}
	w, writing := writes.Begin(ctx, s, r.sizes)
	defer w.Stop()
	t, outcome := &Transaction{writes: w, sizes: r.sizes}, Unknown
	defer func() {
		r.tails.Add(r.tail(t, outcome), r.session.Load())
		r.stage.Ended(t, outcome)
	}()
	watched := w.Watch(writing, r.set.Topics.Topics, r.set.TransactionTimeout, r.spares)
	defer watched()
	r.begun = w.Begun()
	if err := r.fill(writing, t, s, fetches); err != nil {
		return false, err
	}
	r.complete(writing, t)
	t.made = time.Now()
	err := w.Wait(writing)
	watched()
	behind := r.marks.Behind(t.fetches)
	commit := err == nil && !w.Spoiled()
	committed, endErr := r.conclude(kgo.PreTxnCommitFnContext(ctx, mark.Annotate(behind)), s, commit)
	r.halvings = pace.Halve(r.halvings, time.Since(w.Begun()), r.set.TransactionTimeout)
	if endErr != nil {
		r.blame(w)
		return false, fmt.Errorf("end transaction: %w", endErr)
	}
	r.begun = time.Time{}
	if !committed {
		outcome = Aborted
		return false, r.learn(t)
	}
	outcome = Committed
	r.committed(t, behind)
	return true, nil
}

// fill processes what was fetched, and then what waits fetched, until the transaction
// is full. An error means that the session is of no more use.
func (r *Runner) fill(ctx context.Context, t *Transaction, s *kgo.GroupTransactSession, fetches kgo.Fetches) error {
	left := r.full.Halved(r.halvings)
	for fetches.NumRecords() > 0 && ctx.Err() == nil {
		bytes := t.writes.Bytes()
		results := r.process(ctx, t, fetches)
		left.Read -= fetches.NumRecords()
		left.Written -= results
		left.Bytes -= t.writes.Bytes() - bytes
		more := left.Next(r.fanOut)
		if more == 0 || t.writes.Over() || time.Since(t.Begun()) > r.set.TransactionTimeout/4 {
			break
		}
		fetches = s.PollRecords(atOnce, more) //nolint:contextcheck // it is not to wait
		if err := r.fetchError(ctx, fetches); err != nil {
			return err
		}
		// As before the first poll, but that the brokers do not wait for a transaction as
		// long as a stage may. Once ctx has ended nothing can commit any more, and these
		// records come again with the others.
		if err := r.prepare(ctx, fetches, r.set.TransactionTimeout/4); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// atOnce has a poll return with what is there: so the client understands a context
// that is nil.
var atOnce context.Context

func (r *Runner) process(ctx context.Context, t *Transaction, fetches kgo.Fetches) int {
	t.fetches = append(t.fetches, fetches...)
	r.backlog.Polled(fetches)
	results := 0
	fetches.EachRecord(func(rec *kgo.Record) {
		if !rec.Attrs.IsControl() { // the marker of a transaction: it is committed, and that is all
			results += r.stage.Process(ctx, t, rec)
		}
	})
	t.writes.Release(ctx)
	return results
}

// complete has a stateful stage write what the transaction leads to as a whole.
func (r *Runner) complete(ctx context.Context, t *Transaction) {
	if r.stateful != nil && !t.writes.Over() {
		r.stateful.Complete(ctx, t)
		t.writes.Release(ctx)
	}
}

// conclude ends the transaction. To abort one takes an answer for whatever is under way,
// which a broker that is gone does not give.
func (r *Runner) conclude(ctx context.Context, s *kgo.GroupTransactSession, commit bool) (bool, error) {
	if !commit {
		bounded, done := context.WithTimeout(ctx, r.set.TransactionTimeout/2)
		defer done()
		ctx = bounded
	}
	return s.End(ctx, kgo.TransactionEndTry(commit))
}

// committed notes what the transaction did, now that it counts: all that was fetched for
// it is processed up to the marks.
func (r *Runner) committed(t *Transaction, behind map[kafka.Partition]mark.Mark) {
	// What the stage itself took is not what a transaction costs the brokers: one that works
	// for some milliseconds would have records wait for four times as long.
	r.gathering.Committed(t.fetches.NumRecords(), t.made, time.Now())
	r.marks.Processed(behind)
	r.backlog.Processed(t.fetches)
	r.sizes.Committed()
	clear(r.strikes)
}

// learn draws the lesson of an aborted transaction, so that the same records do not
// abort the next one in the same way. An error means that it takes a new session for
// that.
func (r *Runner) learn(t *Transaction) error {
	t.writes.Learn()
	failed := r.blame(t.writes)
	switch {
	case failed != nil && errors.Is(failed.Err, kerr.UnknownTopicID):
		return fmt.Errorf("topic %s was deleted or recreated: %w", failed.Topic, failed.Err)
	case failed != nil:
		r.log.Warn("transaction aborted by a failed write, its events are processed again", "topic", failed.Topic, "error", failed.Err)
	case !t.writes.Spoiled():
		r.log.Info("transaction aborted by a rebalance, its events are processed again", "records", t.fetches.NumRecords())
	}
	return nil
}

// blame has those topics left out that kept a transaction from ending, and returns the
// failure that it ended with; nil: no write had failed.
func (r *Runner) blame(w *writes.Writes) *writes.Failure {
	failed, outages := r.strikes.Blame(w, time.Now(), r.set.TransactionTimeout)
	r.leaveOut(outages)
	return failed
}

func (r *Runner) spares(topic string) bool { return r.sparing != nil && r.sparing.Spares(topic) }

func (r *Runner) leaveOut(outages []Outage) {
	if r.sparing == nil {
		return // there is no other place for what belongs there
	}
	for _, outage := range outages {
		r.sparing.LeaveOut(outage)
	}
}
