package txn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
)

const (
	// abortTimeout bounds the end of a transaction that has failed anyway.
	abortTimeout = 4 * time.Second
	// commitGrace is how long a commit may take once its caller has stopped waiting.
	commitGrace = 2 * time.Second
)

// ErrUnknown means that the answer to a commit was lost: whether the records were
// written is not known. After any other error they were not.
var ErrUnknown = errors.New("whether the transaction was committed is not known")

// RecordError is about the first record of a transaction that failed. Its text names the
// topic alone: keys may be ids of users.
type RecordError struct {
	Record *kgo.Record
	Err    error
}

// Error implements error.
func (e *RecordError) Error() string { return "write to " + e.Record.Topic + ": " + e.Err.Error() }

// Unwrap returns why it failed.
func (e *RecordError) Unwrap() error { return e.Err }

// Writer writes transactions under a transactional id, one at a time. It is used by
// one goroutine.
type Writer struct {
	cl    *kgo.Client
	stuck error           // why the last transaction could not be aborted
	known map[string]bool // topics that the client has met, see meet
}

// Open returns a writer once the transaction that a predecessor left open is ended,
// and one that lives is fenced. Brokers end a transaction of its own after abandonAfter,
// should this process die in the midst of it. The options are those that every client
// shares, and what else the producer needs.
func Open(ctx context.Context, id string, abandonAfter time.Duration, opts ...kgo.Opt) (*Writer, error) {
	cl, err := kgo.NewClient(slices.Concat(opts, []kgo.Opt{
		kgo.TransactionalID(id),
		kgo.TransactionTimeout(abandonAfter),
		kgo.ProducerLinger(0), // each write is flushed
	})...)
	if err != nil {
		return nil, fmt.Errorf("create the client of transactional id %q: %w", id, err)
	}
	if err = take(ctx, cl, id, opts); err != nil {
		cl.Close()
		return nil, fmt.Errorf("initialise transactional id %q: %w", id, err)
	}
	return &Writer{cl: cl, known: make(map[string]bool)}, nil
}

// take has brokers end what a predecessor left open. They may treat its last transaction
// as complete without having ended it everywhere, which shows until the id is used: that
// is written once more then (see package hanging). Where nobody may ask, it is as if all
// had been written.
func take(ctx context.Context, cl *kgo.Client, id string, opts []kgo.Opt) error {
	left, _ := hanging.Left(ctx, cl, id, "") // of all topics: which it wrote to nobody knows
	producer, epoch, err := cl.ProducerID(ctx)
	if err != nil || left == nil {
		return err
	}
	u := hanging.Unfinished{TransactionalID: id, Partitions: left.Partitions, Commit: left.Outcome == hanging.Committed}
	return u.FinishAs(ctx, opts, producer, epoch)
}

// Client is the writer's, for questions to the brokers.
func (w *Writer) Client() *kgo.Client { return w.cl }

// Close ends the writer. It does not wait for brokers that are gone.
func (w *Writer) Close() { w.cl.Close() }

// Write writes batches of records in one transaction, each after the one before it is
// acknowledged. An error that is [kafka.Fenced] says that somebody else has the
// transactional id. One that is [kafka.TooLarge] is about a batch, and the writer is
// still of use; after any other it may not be.
func (w *Writer) Write(ctx context.Context, batches ...[]*kgo.Record) error {
	return w.WriteIf(ctx, func(context.Context) error { return nil }, batches...)
}

// WriteIf is [Writer.Write] with a last word: when all records are acknowledged, and
// bear their offsets, an error of sure aborts the transaction and is returned.
func (w *Writer) WriteIf(ctx context.Context, sure func(context.Context) error, batches ...[]*kgo.Record) error {
	if w.stuck != nil {
		return fmt.Errorf("abort the last transaction: %w", w.stuck)
	}
	if err := w.cl.BeginTransaction(); err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	err := w.produce(ctx, batches)
	if err == nil {
		err = w.meet(ctx, batches)
	}
	if err == nil {
		err = sure(ctx)
	}
	if err != nil {
		// Should that fail too, the brokers do it after abandonAfter. Why tells whoever
		// wants to write more, and nobody who wants to know what was wrong.
		w.stuck = w.abort(ctx)
		return err
	}
	ctx, done := Grace(ctx, commitGrace)
	defer done()
	if err := w.cl.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return nil
}

func (w *Writer) produce(ctx context.Context, batches [][]*kgo.Record) error {
	for _, records := range batches {
		if err := w.acknowledge(ctx, records); err != nil {
			return err
		}
	}
	return nil
}

// meet returns when the client knows of all topics that were written to that it was in
// this transaction. It hands out the records that wait for a topic's metadata just before
// it stores these, and EndTransaction goes by what is stored: between the two it would
// find nothing to commit, abort, and return nil. What the client does for a purge comes
// after the update of the metadata that is under way; there is no such topic to purge.
func (w *Writer) meet(ctx context.Context, batches [][]*kgo.Record) error {
	unmet := make(map[string]bool)
	for _, records := range batches {
		for _, r := range records {
			if !w.known[r.Topic] {
				unmet[r.Topic] = true
			}
		}
	}
	if len(unmet) == 0 {
		return nil
	}
	met := make(chan struct{})
	go func() {
		defer close(met)
		w.cl.PurgeTopicsFromProducing("")
	}()
	select {
	case <-met:
		maps.Copy(w.known, unmet)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// acknowledge returns when brokers have all records, or when ctx ends: an idempotent
// producer by itself goes on past the end of its context.
func (w *Writer) acknowledge(ctx context.Context, records []*kgo.Record) error {
	var (
		first error // written by promises, which run one after the other
		left  sync.WaitGroup
	)
	left.Add(len(records))
	for _, r := range records {
		w.cl.Produce(ctx, r, func(r *kgo.Record, err error) {
			defer left.Done()
			if err != nil && first == nil {
				first = &RecordError{r, err}
			}
		})
	}
	if err := w.cl.Flush(ctx); err != nil {
		return fmt.Errorf("write %d records: %w", len(records), err)
	}
	left.Wait() // Flush may return before the last promise
	return first
}

func (w *Writer) abort(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortTimeout)
	defer cancel()
	if err := w.cl.AbortBufferedRecords(ctx); err != nil {
		return err
	}
	return w.cl.EndTransaction(ctx, kgo.TryAbort)
}

// Grace returns a context that ends d after ctx has ended, or when done is called: a
// unit of work in hand runs on it, so that a stop lets it finish and yet bounds it.
func Grace(ctx context.Context, d time.Duration) (work context.Context, done context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-work.Done():
		case <-time.After(d):
			cancel()
		}
	})
	return work, func() {
		stop()
		cancel()
	}
}
