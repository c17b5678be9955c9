package deadletters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

const (
	// patience is how long a broker may take to say anything before a command
	// gives up.
	patience = 10 * time.Second

	// What is read ahead is all that a view ever holds.
	readAheadBytes = 1 << 20
	pollRecords    = 500
	pollWait       = time.Second
)

// span is a part of one partition.
type span struct {
	topic     string
	partition int32
	kafka.Range
}

func (l *Log) ranges(ctx context.Context, topic string, since time.Time) (map[int32]kafka.Range, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return l.Topics.Ranges(ctx, topic, since)
}

// read calls each with the committed records of a span, in their order. It ends
// with the first error of each.
func (l *Log) read(ctx context.Context, s span, each func(*kgo.Record) error) error {
	if s.Start >= s.End {
		return nil
	}
	cl, err := kgo.NewClient(slices.Concat(l.Kafka, []kgo.Opt{
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{s.topic: {s.partition: kgo.NewOffset().At(s.Start)}}),
		// What retention deletes while it is read is passed over.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The last offset of a span is often a transaction's marker. Were markers
		// left out, the end would never be seen.
		kgo.KeepControlRecords(),
		kgo.FetchMaxBytes(readAheadBytes),
		kgo.FetchMaxPartitionBytes(readAheadBytes),
	})...)
	if err != nil {
		return fmt.Errorf("open a reader of %s: %w", s.topic, err)
	}
	defer cl.Close()
	heard := time.Now()
	for next := s.Start; next < s.End; {
		records, err := poll(ctx, cl)
		switch {
		case err != nil:
			return fmt.Errorf("read %s[%d]@%d: %w", s.topic, s.partition, next, err)
		case len(records) > 0:
		case time.Since(heard) > patience:
			return fmt.Errorf("read %s[%d]@%d: nothing came for %s", s.topic, s.partition, next, patience)
		default:
			// Nothing comes either when retention deleted the rest in the meantime.
			if next, err = l.kept(ctx, s, next); err != nil {
				return err
			}
			continue
		}
		if next, err = deliver(records, s.End, each); err != nil {
			return err
		}
		// Not before: each may take its time.
		heard = time.Now()
	}
	return nil
}

// poll returns records, or none when none came for a while.
func poll(ctx context.Context, cl *kgo.Client) ([]*kgo.Record, error) {
	wait, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	fetches := cl.PollRecords(wait, pollRecords)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, e := range fetches.Errors() {
		if !errors.Is(e.Err, context.DeadlineExceeded) {
			return nil, e.Err
		}
	}
	return fetches.Records(), nil
}

// deliver hands records before end to each and returns the offset to go on from.
func deliver(records []*kgo.Record, end int64, each func(*kgo.Record) error) (int64, error) {
	for _, r := range records {
		if r.Offset >= end {
			return end, nil
		}
		if r.Attrs.IsControl() {
			continue
		}
		if err := each(r); err != nil {
			return r.Offset, err
		}
	}
	return records[len(records)-1].Offset + 1, nil
}

// kept returns next, or the first offset that is left when that lies behind it.
func (l *Log) kept(ctx context.Context, s span, next int64) (int64, error) {
	ranges, err := l.ranges(ctx, s.topic, time.Time{})
	if err != nil {
		return next, err
	}
	left, ok := ranges[s.partition]
	if !ok {
		return s.End, nil
	}
	return max(next, left.Start), nil
}
