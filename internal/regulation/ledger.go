package regulation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

const (
	// abandonAfter is when brokers may end the transaction of a process that died,
	// which holds up readers of the topics, unless the next run ends it before. It is
	// longer than a step of a run may take. (Apache Kafka looks every ten seconds.)
	abandonAfter = 6 * time.Second

	// abortTimeout bounds the end of a transaction that has failed anyway.
	abortTimeout = 2 * time.Second
)

// Why a transaction was not written.
var (
	// ErrTakenOver means that another process has the regulation now.
	ErrTakenOver = errors.New("another process has taken the regulation over")
	// ErrTooLarge means that a topic does not take a batch of that size, and never
	// will; nor the record, if it was alone in it.
	ErrTooLarge = errors.New("records are larger than their topic allows")
)

// Ledger writes regulations to the topic `workspace`, and what follows from them
// to other topics in the same transactions.
type Ledger struct {
	// Kafka holds what every client of the process shares.
	Kafka []kgo.Opt
	// TransactionalID begins the transactional ids, one for each regulation. It is
	// the same in all processes that share the brokers: the id is what keeps two of
	// them from carrying out one regulation.
	TransactionalID string
}

// Create stores a regulation with the ids of its users, all or nothing, and
// returns when the brokers have it. After an error it may be stored all the
// same, when the answer to the commit was lost.
func (l *Ledger) Create(ctx context.Context, r Regulation, users []string) error {
	records, err := creation(&r, users)
	if err != nil {
		return err
	}
	w, err := l.open(ctx, r.ID)
	if err != nil {
		return err
	}
	defer w.cl.Close()
	return w.transact(ctx, records)
}

// open returns a writer of one regulation once the transaction of a process that
// died is ended and another process that has it is fenced.
func (l *Ledger) open(ctx context.Context, id string) (*writer, error) {
	transactionalID := l.TransactionalID + "-" + id
	cl, err := kgo.NewClient(slices.Concat(l.Kafka, []kgo.Opt{
		kgo.TransactionalID(transactionalID),
		kgo.TransactionTimeout(abandonAfter),
		kgo.ProducerLinger(0),
		kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}),
	})...)
	if err != nil {
		return nil, fmt.Errorf("create the client of regulation %s: %w", id, err)
	}
	if _, _, err := cl.ProducerID(ctx); err != nil {
		cl.Close()
		return nil, fmt.Errorf("initialise transactional id %q: %w", transactionalID, err)
	}
	return &writer{cl}, nil
}

// partitioner puts records of the topic `workspace` into its partition 0, whose
// order is the order of changes, and all others where their key belongs.
type partitioner struct{ kgo.Partitioner }

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if topic == schemas.TopicWorkspace {
		return kgo.ManualPartitioner().ForTopic(topic)
	}
	return p.Partitioner.ForTopic(topic)
}

// writer writes transactions.
type writer struct{ cl *kgo.Client }

// transact writes batches of records in one transaction, one after the other.
// After an error of the commit it is not known whether they were written; after
// any other they were not.
func (w *writer) transact(ctx context.Context, batches ...[]*kgo.Record) error {
	if err := w.cl.BeginTransaction(); err != nil {
		return fmt.Errorf("begin transaction: %w", cause(err))
	}
	for _, records := range batches {
		if err := w.produce(ctx, records); err != nil {
			w.abort(ctx)
			return cause(err)
		}
	}
	if err := w.cl.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return fmt.Errorf("commit transaction: %w", cause(err))
	}
	return nil
}

// produce returns when all records are acknowledged, or when ctx ends: an
// idempotent producer by itself goes on past the end of its context. The error is
// that of the first record that failed, by its topic alone: keys are user ids.
func (w *writer) produce(ctx context.Context, records []*kgo.Record) error {
	var (
		first error // written by promises, which run one after the other
		left  sync.WaitGroup
	)
	left.Add(len(records))
	for _, r := range records {
		w.cl.Produce(ctx, r, func(r *kgo.Record, err error) {
			defer left.Done()
			if err != nil && first == nil {
				first = fmt.Errorf("write to %s: %w", r.Topic, err)
			}
		})
	}
	if err := w.cl.Flush(ctx); err != nil {
		return fmt.Errorf("write %d records: %w", len(records), err)
	}
	left.Wait() // Flush may return before the last promise
	return first
}

// abort ends a transaction without effect. If that fails too, the broker does it
// after abandonAfter, so its error tells nothing that anybody could act on.
func (w *writer) abort(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	if w.cl.AbortBufferedRecords(ctx) == nil {
		_ = w.cl.EndTransaction(ctx, kgo.TryAbort)
	}
}

// cause names the two errors that callers act on.
func cause(err error) error {
	for _, fenced := range []error{kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.InvalidTxnState} {
		if errors.Is(err, fenced) {
			return fmt.Errorf("%w: %w", ErrTakenOver, err)
		}
	}
	if errors.Is(err, kerr.MessageTooLarge) || errors.Is(err, kerr.RecordListTooLarge) {
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return err
}
