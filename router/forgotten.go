package router

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// forgotten finds transactions whose end the brokers have forgotten to write into
// the group. Apache Kafka 4.3 and 4.4 do when they restart between a decision and
// its markers: the coordinator treats a partition without a leader as deleted, and the
// transaction as complete. From then on whoever is assigned the partitions whose
// offsets it holds waits for ever, and says nothing.
//
// A look at the group, every few seconds, tells; the remedy is one more transaction
// of the same transactional id, whose end the brokers do write.
type forgotten struct {
	mu       sync.Mutex
	suspects map[int32]suspect
	// routed is, for each partition of raw-events, the offset behind what this
	// process has routed: a commit that is known to have been decided.
	routed map[int32]int64
	// doubts are commits of which nobody could tell whether they were.
	doubts map[int32]doubt
}

// suspect is a partition whose offset is pending.
type suspect struct {
	before int64     // what was committed before
	since  time.Time // when it was first seen so
	acted  time.Time // when something was last done about it; zero: never
}

// doubt is a commit whose answer was lost.
type doubt struct {
	offset  int64
	witness *kgo.Record // of the same transaction: it shows what was decided; nil: nothing was written
}

// errForgotten ends a session whose transactional id may be the one.
var errForgotten = errors.New("the brokers have not ended a transaction, which keeps offsets of raw-events pending")

const (
	// forgottenSlack is how long after its timeout a transaction may stay open: the
	// brokers look for those every ten seconds.
	forgottenSlack = 15 * time.Second
	// forgottenAgain is how often it is said that nothing has helped.
	forgottenAgain = time.Minute
	// finishTime bounds the remedy.
	finishTime = 10 * time.Second
)

// committed notes what a transaction of this process has routed.
func (f *forgotten) committed(behind map[int32]mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for partition, at := range behind {
		f.routed[partition] = at.next
		delete(f.doubts, partition)
	}
}

// doubted notes what one may have routed that wrote the witness.
func (f *forgotten) doubted(behind map[int32]mark, witness *kgo.Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for partition, at := range behind {
		f.doubts[partition] = doubt{at.next, witness}
	}
}

// begin notes where routing of a partition goes on, now that its offset is not pending:
// what is known of more is of a log that was cut or made anew, or was set back.
func (f *forgotten) begin(partition int32, next int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.doubts, partition)
	if f.routed[partition] > next {
		delete(f.routed, partition)
	}
}

// note compares what is pending with what was at earlier looks. It returns the
// partitions on which the same offset has been pending for longer than patience, and
// those on which it still is long after something was done about it, each in turn
// and at most every [forgottenAgain].
func (f *forgotten) note(pending map[int32]int64, now time.Time, patience time.Duration) (found, stubborn []int32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := make(map[int32]suspect, len(pending))
	for partition, before := range pending {
		s, known := f.suspects[partition]
		switch {
		case !known || s.before != before:
			s = suspect{before: before, since: now}
		case s.acted.IsZero() && now.Sub(s.since) > patience:
			s.acted = now
			found = append(found, partition)
		case !s.acted.IsZero() && now.Sub(s.acted) > forgottenAgain:
			s.acted = now
			stubborn = append(stubborn, partition)
		}
		seen[partition] = s
	}
	f.suspects = seen
	slices.Sort(found)
	slices.Sort(stubborn)
	return found, stubborn
}

// decided returns the offsets of pending partitions that transactions of this
// process have committed, beyond what the group shows, and those that they may have.
func (f *forgotten) decided(pending map[int32]int64) (known map[int32]int64, doubts map[int32]doubt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, doubts = make(map[int32]int64), make(map[int32]doubt)
	for partition, before := range pending {
		if offset, ours := f.routed[partition]; ours && offset > before {
			known[partition] = offset
		}
		if d, ours := f.doubts[partition]; ours && d.offset > before && d.witness != nil {
			doubts[partition] = d
		}
	}
	return known, doubts
}

// retry has the next look act again.
func (f *forgotten) retry() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.suspects)
}

// seekForgotten looks at the group once, and interrupts the session where a
// transaction was forgotten.
func (r *Router) seekForgotten(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	pending, err := r.set.Topics.Pending(ctx, Group, r.source)
	if err != nil {
		r.log.Debug("look at pending offsets failed", "error", err)
		return
	}
	found, stubborn := r.forgotten.note(pending, time.Now(), r.cfg.TransactionTimeout+forgottenSlack)
	if len(stubborn) > 0 {
		r.log.Error("partitions are not routed: a transaction that the brokers have forgotten to end keeps their offsets pending",
			"topic", r.source, "partitions", stubborn, "advice", "`anabranch doctor` names its holder and the command that ends it")
	}
	if len(found) == 0 {
		return
	}
	r.log.Warn("offsets have been pending for longer than a transaction can last, ending what this router may have left open", "topic", r.source, "partitions", found)
	if end := r.end.Load(); end != nil {
		(*end)(errForgotten)
	}
}

// finish ends what the brokers have forgotten of this router's transactions. It is
// for the time between two sessions, of which it would fence one. Under which of its
// ids the transaction was is not known: the one in use comes first.
func (r *Router) finish(ctx context.Context) {
	for n := range identities {
		done, err := r.finishAs(ctx, r.idOf((r.identity+n)%identities))
		if err != nil {
			r.forgotten.retry()
			r.log.Warn("end of a forgotten transaction failed, retrying", "error", err)
		}
		if done || err != nil {
			return
		}
	}
}

// finishAs does it for one id. It reports whether nothing is pending any more.
func (r *Router) finishAs(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	pending, err := r.set.Topics.Pending(ctx, Group, r.source)
	if err != nil || len(pending) == 0 {
		return err == nil, err
	}
	u := kafka.Unfinished{TransactionalID: id, Group: Group, Topic: r.source, Offsets: r.settled(ctx, pending)}
	if err = u.Finish(ctx, r.set.Kafka); err == nil {
		r.log.Warn("ended what this router may have left open", "committed", u.Offsets, "transactional_id", id)
	}
	return false, err
}

// settled returns the offsets of pending partitions that were committed, as this
// process knows or a witness tells.
func (r *Router) settled(ctx context.Context, pending map[int32]int64) map[int32]int64 {
	known, doubts := r.forgotten.decided(pending)
	for partition, d := range doubts {
		asking, cancel := context.WithTimeout(ctx, finishTime/4)
		committed, err := kafka.Committed(asking, r.set.Kafka, d.witness)
		cancel()
		if err != nil {
			r.log.Warn("outcome of a transaction can't be determined, its events may be routed twice", "error", err)
		}
		if committed {
			known[partition] = max(known[partition], d.offset)
		}
	}
	return known
}
