package wstopic

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

const (
	// abandonAfter bounds how long a publisher that died in the middle keeps
	// others from publishing. Its transaction takes milliseconds, and commands
	// give up after ten seconds.
	abandonAfter = 5 * time.Second
	endTimeout   = 5 * time.Second

	readablePause = 10 * time.Millisecond
)

// commit writes records in one transaction if the first of them comes to stand
// at an offset, and else returns errOvertaken. That comparison is what makes
// publishing safe: whoever wrote since the state was read, also in a transaction
// that is still open or was aborted, has moved the offset.
func (p *Publisher) commit(ctx context.Context, records []*kgo.Record, at int64) error {
	cl, err := kgo.NewClient(slices.Concat(p.Kafka, []kgo.Opt{
		// An id of its own, so that no publisher fences another half-way.
		kgo.TransactionalID("anabranch-workspace-" + rand.Text()),
		kgo.TransactionTimeout(abandonAfter),
		kgo.DefaultProduceTopic(schemas.TopicWorkspace),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
	})...)
	if err != nil {
		return fmt.Errorf("open a transaction: %w", err)
	}
	defer cl.Close()
	if err := cl.BeginTransaction(); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := produce(ctx, cl, records); err != nil {
		abort(ctx, cl)
		return err
	}
	if records[0].Offset != at {
		abort(ctx, cl)
		return errOvertaken
	}
	// A commit that is cut short is one of unknown outcome.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if err := cl.EndTransaction(ctx, kgo.TryCommit); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	awaitReadable(ctx, cl, records[len(records)-1].Offset)
	return nil
}

// awaitReadable returns when readers see what was committed: brokers answer a
// commit once it is certain, and write its marker a moment later. Nothing hangs
// on it but that who reads after publishing reads what was published, so an
// error only ends the wait.
func awaitReadable(ctx context.Context, cl *kgo.Client, offset int64) {
	for ctx.Err() == nil {
		if end, err := stableEnd(ctx, cl); err != nil || end > offset {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(readablePause):
		}
	}
}

// produce returns when all records are acknowledged, or when ctx ends: an
// idempotent producer by itself goes on past the end of its context.
func produce(ctx context.Context, cl *kgo.Client, records []*kgo.Record) error {
	var (
		refused error // written by promises, which run one after the other
		left    sync.WaitGroup
	)
	left.Add(len(records))
	for _, r := range records {
		cl.Produce(ctx, r, func(r *kgo.Record, err error) {
			defer left.Done()
			if err != nil && refused == nil {
				refused = fmt.Errorf("produce %s: %w", r.Key, err)
			}
		})
	}
	if err := cl.Flush(ctx); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	left.Wait() // Flush may return before the last promise
	return refused
}

// abort ends a transaction without effect. If that fails too, the broker does
// it after abandonAfter, so its error tells nothing that anybody could act on.
func abort(ctx context.Context, cl *kgo.Client) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if cl.AbortBufferedRecords(ctx) == nil {
		_ = cl.EndTransaction(ctx, kgo.TryAbort)
	}
}
