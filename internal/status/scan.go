package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// limits bound what is read for a report.
type limits struct {
	perPartition int
	total        int
	time         time.Duration
}

// usualLimits leave half of a command's ten seconds to the look-ups.
func usualLimits() limits {
	return limits{perPartition: 5_000, total: 200_000, time: 5 * time.Second}
}

const (
	scanBytes          = 4 << 20
	scanPartitionBytes = 128 << 10
	scanPoll           = 2_000
	scanWait           = 250 * time.Millisecond
)

// span is a part of a partition that is to be read.
type span struct {
	topic     string
	partition int32
	kafka.Range

	next int64 // the first offset that was not read
	read int
}

// whole reports whether all of it was read.
func (s *span) whole() bool { return s.next >= s.End }

// left is how many offsets were not read.
func (s *span) left() int64 { return max(s.End-s.next, 0) }

// take hands the records of the span to each until it has had its share.
func (s *span) take(records []*kgo.Record, share int, each func(*span, *kgo.Record)) {
	for _, r := range records {
		if s.whole() || s.read >= share {
			return
		}
		s.next = r.Offset + 1
		if r.Offset < s.End && !r.Attrs.IsControl() {
			s.read++
			each(s, r)
		}
	}
}

type place struct {
	topic     string
	partition int32
}

// scan reads committed records of spans side by side, as far as the limits allow,
// and hands them to each. A span that was not read to its end says so itself; that
// time ran out is no error.
func scan(ctx context.Context, opts []kgo.Opt, spans []*span, lim limits, each func(*span, *kgo.Record)) error {
	s := &scanner{limits: lim, each: each, open: make(map[place]*span), left: lim.total}
	for _, part := range spans {
		if part.next = part.Start; !part.whole() {
			s.open[place{part.topic, part.partition}] = part
		}
	}
	if len(s.open) == 0 {
		return nil
	}
	var err error
	if s.client, err = kgo.NewClient(slices.Concat(opts, s.options())...); err != nil {
		return fmt.Errorf("open a reader of %d partitions: %w", len(s.open), err)
	}
	defer s.client.Close()
	timed, cancel := context.WithTimeout(ctx, lim.time)
	defer cancel()
	for len(s.open) > 0 && s.left > 0 && timed.Err() == nil {
		fetches := s.client.PollRecords(timed, scanPoll)
		if err = scanError(fetches); err != nil {
			return err
		}
		fetches.EachPartition(s.take)
	}
	return ctx.Err()
}

// scanner reads spans that are open: not read to their end, nor as far as a
// partition may be.
type scanner struct {
	limits

	client *kgo.Client
	open   map[place]*span
	left   int // records that may still be read
	each   func(*span, *kgo.Record)
}

func (s *scanner) options() []kgo.Opt {
	from := make(map[string]map[int32]kgo.Offset)
	for at, part := range s.open {
		if from[at.topic] == nil {
			from[at.topic] = make(map[int32]kgo.Offset)
		}
		from[at.topic][at.partition] = kgo.NewOffset().At(part.Start)
	}
	return []kgo.Opt{
		kgo.ConsumePartitions(from),
		// What retention deletes while it is read is passed over.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The last offset of a span is often a transaction's marker. Were markers left
		// out, the end would never be seen.
		kgo.KeepControlRecords(),
		kgo.FetchMaxBytes(scanBytes),
		kgo.FetchMaxPartitionBytes(scanPartitionBytes),
		kgo.FetchMaxWait(scanWait),
	}
}

func (s *scanner) take(fetched kgo.FetchTopicPartition) {
	at := place{fetched.Topic, fetched.Partition}
	part := s.open[at]
	if part == nil {
		return
	}
	before := part.read
	part.take(fetched.Records, s.perPartition, s.each)
	s.left -= part.read - before
	switch {
	case part.whole():
		delete(s.open, at)
	case part.read >= s.perPartition:
		delete(s.open, at)
		// Only those that have more: with ten thousand partitions, pausing each of them
		// took longer than reading them, since each call copies the list.
		s.client.PauseFetchPartitions(map[string][]int32{at.topic: {at.partition}})
	}
}

// scanError passes on what the client does not mend by itself.
func scanError(fetches kgo.Fetches) error {
	var fatal error
	fetches.EachError(func(topic string, partition int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) && !kerr.IsRetriable(err) {
			fatal = fmt.Errorf("read %s[%d]: %w", topic, partition, err)
		}
	})
	return fatal
}
