package ranges

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	// fetchWait is how long a broker may hold a fetch that finds nothing. What asks
	// whether anything will come goes over the same connection, behind it.
	fetchWait = 250 * time.Millisecond

	// pollWait is how long nothing may come before the brokers are asked whether
	// anything will. The question may take as long.
	pollWait    = time.Second
	pollRecords = 2_000

	// What is read ahead is all that a reader ever holds.
	aheadBytes     = 4 << 20
	partitionMost  = 1 << 20
	partitionLeast = 128 << 10
)

// Limits bound what [Read] reads. Zero is no bound.
type Limits struct {
	PerSpan int // records of each span
	Total   int // records of all spans
	// Patience is how long brokers may have nothing to say before that is an error, also of
	// a topic that they do not know. Without it, that one counts as deleted.
	Patience time.Duration
}

// Read reads the committed records of spans side by side, each span in its order, and
// hands them to each. It returns when all spans are read as far as the limits allow,
// or with the first error: one of each, whose record is then the next of its span, the
// end of ctx, or one that the client does not recover from, of which [Gone] tells
// whether the log itself is lost. The spans say how far they were read.
//
// What retention deletes while it is read is passed over and counted in the span. The
// values come along whether they are wanted or not: Kafka has no fetch of headers
// alone. opts are what every client of the process shares.
func Read(ctx context.Context, opts []kgo.Opt, spans []*Span, limits Limits, each func(*Span, *kgo.Record) error) error {
	r := &reader{limits: limits, each: each, open: make(map[place][]*Span), left: orAll(limits.Total)}
	r.limits.PerSpan = orAll(limits.PerSpan)
	for _, s := range spans {
		if !s.Done() {
			at := place{s.Topic, s.Partition}
			r.open[at] = append(r.open[at], s)
		}
	}
	if len(r.open) == 0 {
		return nil
	}
	var err error
	if r.client, err = Open(opts, fetchWait, slices.DeleteFunc(slices.Clone(spans), (*Span).Done)...); err != nil {
		return err
	}
	defer r.client.Close()
	return r.run(ctx)
}

func orAll(n int) int {
	if n == 0 {
		return math.MaxInt
	}
	return n
}

// Open returns a client that reads committed records of spans from where they are at.
// It hands out the markers of transactions too: the last offset of a span is often one,
// and were they left out, its end would never be seen. Brokers hold fetches that find
// nothing for as long as wait.
func Open(opts []kgo.Opt, wait time.Duration, spans ...*Span) (*kgo.Client, error) {
	from := make(map[string]map[int32]kgo.Offset)
	for _, s := range spans {
		if from[s.Topic] == nil {
			from[s.Topic] = make(map[int32]kgo.Offset)
		}
		if first, known := from[s.Topic][s.Partition]; !known || s.Next < first.EpochOffset().Offset {
			from[s.Topic][s.Partition] = kgo.NewOffset().At(s.Next)
		}
	}
	partitionBytes := min(max(aheadBytes/max(len(spans), 1), partitionLeast), partitionMost)
	cl, err := kgo.NewClient(slices.Concat(opts, []kgo.Opt{
		kgo.ConsumePartitions(from),
		// What retention deletes while it is read is passed over.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.KeepControlRecords(),
		kgo.FetchMaxBytes(int32(min(aheadBytes, partitionBytes*max(len(spans), 1)))),
		kgo.FetchMaxPartitionBytes(int32(partitionBytes)),
		kgo.FetchMaxWait(wait),
	})...)
	if err != nil {
		return nil, fmt.Errorf("open a reader of %d partitions: %w", len(spans), err)
	}
	return cl, nil
}

// Gone reports whether an error of a reader means that the log it read is gone: its
// topic was deleted, whether or not there is another one by now, or the brokers have
// lost its end. A client never adopts a topic with another id, and where brokers know
// no ids it goes to the end of the new one.
func Gone(err error) bool {
	_, lost := errors.AsType[*kgo.ErrDataLoss](err)
	return lost || errors.Is(err, kerr.UnknownTopicID)
}

// place is a partition.
type place struct {
	topic     string
	partition int32
}

// reader reads spans that are open: not read to their end, nor as far as one may be.
type reader struct {
	limits Limits
	client *kgo.Client
	open   map[place][]*Span
	left   int // records that may still be read
	each   func(*Span, *kgo.Record) error
}

func (r *reader) run(ctx context.Context) error {
	heard := time.Now()
	for len(r.open) > 0 && r.left > 0 {
		found, err := r.poll(ctx)
		switch {
		case err != nil:
			return err
		case found:
		case r.limits.Patience > 0 && time.Since(heard) > r.limits.Patience:
			return r.nothingCame()
		default:
			r.skip(ctx)
			continue
		}
		heard = time.Now() // not before: each may take its time
	}
	return nil
}

// poll hands out what comes within pollWait, and reports whether anything did.
func (r *reader) poll(ctx context.Context) (found bool, err error) {
	wait, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	fetches := r.client.PollRecords(wait, pollRecords)
	if ctx.Err() != nil {
		return false, fmt.Errorf("read %d partitions: %w", len(r.open), context.Cause(ctx))
	}
	if err = final(fetches); err != nil {
		return false, err
	}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		if err == nil {
			found = found || len(p.Records) > 0
			err = r.take(place{p.Topic, p.Partition}, &p.FetchPartition)
		}
	})
	return found, err
}

// final is an error that the client does not recover from.
func final(fetches kgo.Fetches) (final error) {
	fetches.EachError(func(topic string, partition int32, err error) {
		if !errors.Is(err, context.DeadlineExceeded) && !kerr.IsRetriable(err) {
			final = fmt.Errorf("read %s[%d]: %w", topic, partition, err)
		}
	})
	return final
}

func (r *reader) take(at place, p *kgo.FetchPartition) error {
	if len(r.open[at]) == 0 {
		return nil
	}
	var errs error
	more := false
	r.close(at, func(s *Span) bool {
		before := s.Records
		errs = errors.Join(errs, s.take(p, r.limits.PerSpan, r.each))
		r.left -= s.Records - before
		more = more || !s.Done()
		return s.Done() || s.Records >= r.limits.PerSpan
	})
	if more && len(r.open[at]) == 0 {
		// Only those that have more: with ten thousand partitions, pausing each of them
		// took longer than reading them, since each call copies the list.
		r.client.PauseFetchPartitions(map[string][]int32{at.topic: {at.partition}})
	}
	return errs
}

// close takes spans of a partition out of those that are open.
func (r *reader) close(at place, which func(*Span) bool) {
	if r.open[at] = slices.DeleteFunc(r.open[at], which); len(r.open[at]) == 0 {
		delete(r.open, at)
	}
}

// skip looks at what nothing comes of. That a look fails is for the client to mend.
func (r *reader) skip(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pollWait)
	defer cancel()
	for at := range r.open {
		r.close(at, func(s *Span) bool {
			if ctx.Err() != nil {
				return false
			}
			if err := s.Skip(ctx, r.client); errors.Is(err, kerr.UnknownTopicOrPartition) && r.limits.Patience == 0 {
				s.delete(s.End) // with its topic
			}
			return s.Done()
		})
	}
}

func (r *reader) nothingCame() error {
	for _, spans := range r.open {
		s := spans[0]
		return fmt.Errorf("read %s[%d]@%d: no record arrived for %s", s.Topic, s.Partition, s.Next, r.limits.Patience)
	}
	return nil
}
