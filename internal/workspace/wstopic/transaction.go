package wstopic

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
)

// TransactionalIDs begins the transactional ids of publishers.
const TransactionalIDs = schemas.OwnPrefix + "workspace-"

const (
	// abandonAfter bounds how long a publisher that died in the middle keeps
	// others from publishing. Its transaction takes milliseconds, and commands
	// give up after ten seconds.
	abandonAfter = 5 * time.Second
	// gapTimeout is for reading what others wrote meanwhile.
	gapTimeout = 2 * time.Second
	// readableTimeout bounds the wait for what was published to be readable. Another's
	// transaction may hold that up, a regulation's whose process died.
	readableTimeout = 5 * time.Second

	readablePause = 10 * time.Millisecond
)

// commit writes records in one transaction if nothing of a workspace stands
// between an offset and the first of them, and else returns errOvertaken. That
// comparison is what makes publishing safe: whoever wrote since the state was
// read, also in a transaction that is still open or was aborted, has moved the
// offset.
func (p *Publisher) commit(ctx context.Context, records []*kgo.Record, at int64) error {
	// An id of its own, so that no publisher fences another half-way.
	w, err := txn.Open(ctx, TransactionalIDs+rand.Text(), abandonAfter, append(slices.Clip(p.Kafka),
		kgo.DefaultProduceTopic(schemas.TopicWorkspace), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return err
	}
	defer w.Close()
	err = w.WriteIf(ctx, func(ctx context.Context) error {
		if p.overtaken(ctx, at, records[0].Offset) {
			return errOvertaken
		}
		return nil
	}, records)
	if refused, ok := errors.AsType[*txn.RecordError](err); ok {
		return fmt.Errorf("produce %s: %w", refused.Record.Key, refused.Err)
	}
	if err == nil {
		awaitReadable(ctx, w.Client(), records[len(records)-1].Offset)
	}
	return err
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
	ctx, cancel := context.WithTimeout(ctx, readableTimeout)
	defer cancel()
	for {
		if end, err := stableEnd(ctx, cl, schemas.TopicWorkspace); err != nil || end > offset || !waiting.Sleep(ctx, readablePause) {
			return
		}
	}
}
