package runner

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/writes"
)

// Stage is what a runner runs. Its methods are called by the runner's loop, one at a
// time.
type Stage interface {
	// Prepare is called with records before they are processed: what they need is made
	// ready, or waited for, for as long as patience at most. It returns how many records
	// each of them may lead to. An error, unless it is the end of ctx, ends the session.
	Prepare(ctx context.Context, fetches kgo.Fetches, patience time.Duration) (fanOut int, err error)
	// Process writes what a record leads to. What else follows from it is kept until the
	// transaction has ended; it returns how many such results there are, those that are
	// written included: they count against what a transaction may hold.
	Process(ctx context.Context, t *Transaction, rec *kgo.Record) (results int)
	// Ended says what became of the transaction whose records were processed last: what
	// was kept for it counts now, or is dropped.
	Ended(t *Transaction, outcome Outcome)
}

// Stateful is a stage that keeps state by partition.
type Stateful interface {
	// Complete is called by the loop when a transaction takes no more records, and writes
	// what they lead to together, such as the changes of the state.
	Complete(ctx context.Context, t *Transaction)
	// Restore is called with partitions of the sources before the first record of them is
	// polled, when no transaction can change any more what they lead to: at is where the
	// processing of each begins. Of one that is not Committed the stage may know better, and
	// sets Next. One of which nobody knows where to begin, for want of a leader or of a word
	// from the operator, is not among them. An error refuses them; they are asked for again,
	// or another member is. Like Lost it is called by the client, and may be while
	// records of other partitions are processed.
	Restore(ctx context.Context, at map[kafka.Partition]Place) error
	// Lost says that partitions are somebody else's, or may be, or will be restored anew. A
	// transaction of their records may still end; it has committed only if that says so. It
	// may name some that were not restored. Whose records come without their state has to
	// drop the transaction ([Transaction.Drop]).
	Lost(partitions []kafka.Partition)
}

// Sparing is a stage whose records for some topics have another place to go.
type Sparing interface {
	// Spares reports whether a topic is one that is written to and can be left out. It may
	// be called at any time.
	Spares(topic string) bool
	// LeaveOut has a topic left out. It is told of others too, and ignores them.
	LeaveOut(outage Outage)
}

// Outage is a topic that takes no records.
type Outage = writes.Outage

// Outcome is what became of a transaction.
type Outcome = hanging.Outcome

// The outcomes there are.
const (
	// Unknown: the session is over, all partitions are lost, and what is restored next
	// tells.
	Unknown = hanging.Unknown
	// Committed: everything has happened.
	Committed = hanging.Committed
	// Aborted: nothing has, and the records come again.
	Aborted = hanging.Aborted
)

// Transaction is one in the making.
type Transaction struct {
	writes  *writes.Writes
	sizes   *writes.Sizes
	fetches kgo.Fetches
	made    time.Time // when the stage was done with it, and it was left to the brokers
}

// Write writes out, which was made from another record.
func (t *Transaction) Write(ctx context.Context, from, out *kgo.Record) {
	t.writes.Write(ctx, from, out)
}

// Refused reports whether a topic takes nothing that is made from a record: it was too
// large, in a transaction that was aborted for it.
func (t *Transaction) Refused(topic string, from *kgo.Record) bool {
	return t.sizes.Refused(topic, from)
}

// Drop has the transaction aborted, and its records come again: what they need is not
// there, since their partition was lost meanwhile, perhaps.
func (t *Transaction) Drop() { t.writes.Spoil() }

// Begun is when the transaction was begun.
func (t *Transaction) Begun() time.Time { return t.writes.Begun() }

// Next is, by partition, the offset behind what the transaction has read: where
// processing goes on once it has committed, and what [Stateful.Restore] is told then.
func (t *Transaction) Next() map[kafka.Partition]int64 {
	next := make(map[kafka.Partition]int64)
	t.fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if n := len(p.Records); n > 0 {
			next[kafka.Partition{Topic: p.Topic, Num: p.Partition}] = p.Records[n-1].Offset + 1
		}
	})
	return next
}
