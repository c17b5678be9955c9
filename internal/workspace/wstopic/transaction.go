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

	// gapTimeout is for reading what others wrote meanwhile.
	gapTimeout = 2 * time.Second

	readablePause = 10 * time.Millisecond
)

// commit writes records in one transaction if nothing of a workspace stands
// between an offset and the first of them, and else returns errOvertaken. That
// comparison is what makes publishing safe: whoever wrote since the state was
// read, also in a transaction that is still open or was aborted, has moved the
// offset.
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
	if p.overtaken(ctx, at, records[0].Offset) {
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

// overtaken tells whether anything of a workspace may stand between two offsets,
// the second one excluded. Records about single users do not count: a large
// deletion writes them many times a second, and nothing could be published
// meanwhile. As a rule the offsets are the same and nothing is read.
func (p *Publisher) overtaken(ctx context.Context, from, to int64) bool {
	if from == to {
		return false
	}
	cl, err := kgo.NewClient(slices.Concat(p.Kafka, []kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadUncommitted()),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{schemas.TopicWorkspace: {partition: kgo.NewOffset().At(from)}}),
	})...)
	if err != nil {
		return true
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, gapTimeout)
	defer cancel()
	for ctx.Err() == nil {
		for _, r := range cl.PollFetches(ctx).Records() {
			switch {
			case r.Offset >= to:
				return false
			case !aboutUsers(r.Key):
				return true
			}
		}
	}
	return true // not known
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
