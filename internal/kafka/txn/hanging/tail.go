package hanging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// Outcome is what became of a transaction.
type Outcome int

// The outcomes there are.
const (
	Unknown   Outcome = iota // nobody has said
	Committed                // everything has happened
	Aborted                  // nothing has
)

// Tail is the last transaction of a process, as that process knows it. Brokers that
// restart behind its decision may never write its end where it belongs. There it stays
// open under its producer, and shares the fate of whatever that writes next: a
// transaction that is aborted takes the records of a committed one along.
type Tail struct {
	TransactionalID string
	Partitions      []kafka.Partition // that it wrote to
	Outcome         Outcome
	// Behind is where the group's offsets are if it was committed.
	Behind map[kafka.Partition]int64
	// Witness is one of its records: it shows what was decided. Nil: it wrote none.
	Witness *kgo.Record
}

// witnessTime bounds the question that a witness answers.
const witnessTime = 2500 * time.Millisecond

// Left returns the tail of the process that had a transactional id before, as brokers show
// it: what had been decided, until the id is used, and which partitions of topics whose
// names begin like that may lack the end. Nil: there is nothing to settle.
func Left(ctx context.Context, cl *kgo.Client, id string, names ...string) (*Tail, error) {
	admin := kadm.NewClient(cl)
	described, err := admin.DescribeTransactions(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("describe the transaction of %q: %w", id, err)
	}
	t := &Tail{TransactionalID: id}
	switch described[id].State {
	case "CompleteCommit":
		t.Outcome = Committed
	case "CompleteAbort":
		t.Outcome = Aborted
	default:
		return nil, nil //nolint:nilnil // it was never used, or its end is still to come
	}
	all, err := admin.ListTopics(ctx)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	topics := slices.DeleteFunc(all.Names(), func(topic string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(topic, name) })
	})
	if len(topics) == 0 {
		return nil, nil //nolint:nilnil // as above
	}
	held, err := behindStable(ctx, admin, topics...)
	for _, topic := range held.Sorted() {
		for _, num := range topic.Partitions {
			t.Partitions = append(t.Partitions, kafka.Partition{Topic: topic.Topic, Num: num})
		}
	}
	if err != nil || len(t.Partitions) == 0 {
		return nil, err
	}
	return t, nil
}

// Without returns the tail without partitions that a later transaction has written to.
func (t Tail) Without(partitions []kafka.Partition) Tail {
	t.Partitions = slices.DeleteFunc(slices.Clone(t.Partitions), func(p kafka.Partition) bool { return slices.Contains(partitions, p) })
	return t
}

// Settle has the end of a tail written wherever it may be missing, before its producer,
// which lives and has no transaction open, begins the next. It waits until the
// coordinator has done its own part.
func (w *Watch) Settle(ctx context.Context, t Tail, id int64, epoch int16) error {
	ctx, cancel := context.WithTimeout(ctx, finishTime)
	defer cancel()
	pending, err := w.pending(ctx)
	if err != nil {
		return err
	}
	u := Unfinished{TransactionalID: t.TransactionalID, Group: w.input.Group, Partitions: t.Partitions, Commit: t.Outcome == Committed}
	if t.Outcome == Unknown {
		if u.Commit, err = w.judge(ctx, t, pending); err != nil {
			return err
		}
	}
	if u.Commit {
		u.Offsets = heldBack(t.Behind, pending)
	}
	if err = u.FinishAs(ctx, w.input.Kafka, id, epoch); err != nil {
		return err
	}
	if len(pending) > 0 {
		w.input.Log.Warn("offsets were pending behind a lost connection: the end of the last transaction was written once more", "committed", inOrder(u.Offsets))
	}
	return nil
}

// judge finds out whether a tail was committed. Its offsets tell, if they are settled.
// That others have processed its events since looks the same: to commit it then doubles
// them, and to abort it would lose them if they have not.
func (w *Watch) judge(ctx context.Context, t Tail, pending map[kafka.Partition]int64) (bool, error) {
	committed, err := lookup.Committed(ctx, w.input.Topics.Client, w.input.Group)
	if err != nil {
		return false, err
	}
	for p, next := range t.Behind {
		if _, is := pending[p]; !is {
			at, known := committed.Lookup(p.Topic, p.Num)
			return known && at.At >= next, nil
		}
	}
	if t.Witness == nil {
		return false, nil
	}
	asking, cancel := context.WithTimeout(ctx, witnessTime)
	defer cancel()
	shown, err := WasCommitted(asking, w.input.Kafka, t.Witness)
	if err != nil {
		w.input.Log.Warn("outcome of a transaction can't be determined, its events may be processed twice", "error", err)
	}
	return shown, nil
}

// heldBack are the offsets behind a tail of partitions that are still before them.
func heldBack(behind, pending map[kafka.Partition]int64) map[kafka.Partition]int64 {
	offsets := make(map[kafka.Partition]int64)
	for p, next := range behind {
		if before, is := pending[p]; is && before < next {
			offsets[p] = next
		}
	}
	return offsets
}
