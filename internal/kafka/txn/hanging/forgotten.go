package hanging

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

// Watch finds transactions whose end the brokers have forgotten to write into
// the group. Apache Kafka 4.3 and 4.4 do when they restart between a decision and
// its markers: the coordinator treats a partition without a leader as deleted, and the
// transaction as complete. From then on whoever is assigned the partitions whose
// offsets it holds waits for ever, and says nothing.
//
// A look at the group, every few seconds, tells; the remedy is one more transaction
// of the same transactional id, whose end the brokers do write.
type Watch struct {
	input   mark.Input
	marks   *mark.Marks
	timeout time.Duration

	mu       sync.Mutex
	suspects map[kafka.Partition]suspect
}

// NewWatch returns a watch for transactions that may last for so long. The marks say
// which commits are known to have been decided.
func NewWatch(input mark.Input, marks *mark.Marks, timeout time.Duration) *Watch {
	return &Watch{input: input, marks: marks, timeout: timeout}
}

// suspect is a partition whose offset is pending.
type suspect struct {
	before int64     // what was committed before
	since  time.Time // when it was first seen so
	acted  time.Time // when something was last done about it; zero: never
}

const (
	// forgottenSlack is how long after its timeout a transaction may stay open: the
	// brokers look for those every ten seconds.
	forgottenSlack = 15 * time.Second
	// forgottenAgain is how often it is said that nothing has helped.
	forgottenAgain = time.Minute
	// finishTime bounds the remedy.
	finishTime = 10 * time.Second
)

// note compares what is pending with what was at earlier looks. It returns the
// partitions on which the same offset has been pending for longer than patience, and
// those on which it still is long after something was done about it, each in turn
// and at most every [forgottenAgain].
func (w *Watch) note(pending map[kafka.Partition]int64, now time.Time, patience time.Duration) (found, stubborn []kafka.Partition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[kafka.Partition]suspect, len(pending))
	for partition, before := range pending {
		s, known := w.suspects[partition]
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
	w.suspects = seen
	slices.SortFunc(found, kafka.Partition.Compare)
	slices.SortFunc(stubborn, kafka.Partition.Compare)
	return found, stubborn
}

// decided returns the offsets of pending partitions that transactions of this
// process have committed, beyond what the group shows.
func (w *Watch) decided(pending map[kafka.Partition]int64) map[kafka.Partition]int64 {
	known := make(map[kafka.Partition]int64)
	for partition, before := range pending {
		// Where processing began is a mark too: nothing before it is to be processed.
		if last := w.marks.LastOf(partition); last != nil && last.Next > before {
			known[partition] = last.Next
		}
	}
	return known
}

// retry has the next look act again.
func (w *Watch) retry() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.suspects)
}

// pending is [Pending] of all that the group reads.
func (w *Watch) pending(ctx context.Context) (map[kafka.Partition]int64, error) {
	all := make(map[kafka.Partition]int64)
	for _, topic := range w.input.Sources {
		of, err := Pending(ctx, w.input.Topics.Client, w.input.Group, topic)
		if err != nil {
			return nil, err
		}
		for num, before := range of {
			all[kafka.Partition{Topic: topic, Num: num}] = before
		}
	}
	return all, nil
}

// Look looks at the group once, and reports whether a transaction was forgotten that may
// be one of this process.
func (w *Watch) Look(ctx context.Context) bool {
	pending, err := w.pending(ctx)
	if err != nil {
		w.input.Log.Debug("checking pending offsets failed", "error", err)
		return false
	}
	found, stubborn := w.note(pending, time.Now(), w.timeout+forgottenSlack)
	if len(stubborn) > 0 {
		w.input.Log.Error("partitions are not processed: a transaction that the brokers have forgotten to end keeps their offsets pending",
			"partitions", stubborn, "advice", "`anabranch doctor` names its holder and the command that ends it")
	}
	if len(found) > 0 {
		w.input.Log.Warn("offsets have been pending for longer than a transaction can last, ending what this process may have left open", "partitions", found)
	}
	return len(found) > 0
}

// Finish ends what the brokers have forgotten of the transactions of this process. It is
// for the time between two sessions, of which it would fence one. Under which of its
// ids the transaction was is not known: they are tried in their order.
func (w *Watch) Finish(ctx context.Context, ids []string) {
	for _, id := range ids {
		done, err := w.finishAs(ctx, id)
		if err != nil {
			w.retry()
			w.input.Log.Warn("ending a forgotten transaction failed, retrying", "error", err)
		}
		if done || err != nil {
			return
		}
	}
}

// finishAs does it for one id. It reports whether nothing is pending any more.
func (w *Watch) finishAs(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	pending, err := w.pending(ctx)
	if err != nil || len(pending) == 0 {
		return err == nil, err
	}
	u := Unfinished{TransactionalID: id, Group: w.input.Group, Offsets: w.decided(pending)}
	u.Commit = len(u.Offsets) > 0
	if err = u.Finish(ctx, w.input.Kafka); err == nil {
		w.input.Log.Warn("ended what this process may have left open", "committed", inOrder(u.Offsets), "transactional_id", id)
	}
	return false, err
}

// inOrder is offsets for a log.
func inOrder(offsets map[kafka.Partition]int64) []string {
	all := make([]string, 0, len(offsets))
	for _, p := range slices.SortedFunc(maps.Keys(offsets), kafka.Partition.Compare) {
		all = append(all, fmt.Sprintf("%s@%d", p, offsets[p]))
	}
	return all
}
