package ranges

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/waiting"
)

// scanBytes is how much of a partition one fetch of [Scan] asks for. Larger fetches are not
// faster, and each partition that is read at a time holds one.
const scanBytes = 2 << 20

// Scan looks for records that hold one of some texts, in their keys, headers or values as
// they are stored, and hands each the committed records of the fetches that have one: most
// of them are others, so each has to look. What holds no text is not taken apart, which
// makes it several times as fast as [Read]. Spans are read side by side, in
// no order between them, and long ones in parts; each is called from one goroutine at a
// time. The spans say how far they were read, unless Scan fails: then that is not known.
func Scan(ctx context.Context, cl *kgo.Client, spans []*Span, texts [][]byte, each func(*kgo.Record) error) error {
	s := &scan{client: cl, texts: texts, each: each}
	if err := s.locate(ctx, spans); err != nil {
		return err
	}
	parts := make(chan *Span)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var readers sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) { // one waits for brokers while another looks
		readers.Go(func() {
			for part := range parts {
				if err := s.read(ctx, part); err != nil {
					cancel(err)
				}
			}
		})
	}
	pieces := cut(spans, 4*runtime.GOMAXPROCS(0))
	for _, p := range pieces {
		if ctx.Err() == nil {
			parts <- p.part
		}
	}
	close(parts)
	readers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, p := range pieces {
		p.of.Records, p.of.Deleted = p.of.Records+p.part.Records, p.of.Deleted+p.part.Deleted
		p.of.Next = max(p.of.Next, p.part.Next)
	}
	return nil
}

// piece is a part of a span.
type piece struct{ of, part *Span }

// leastPiece is how many offsets are worth a fetch of their own.
const leastPiece = 4096

// cut returns the spans in about as many pieces as are wanted, the last of each first: what
// is looked for is more often new than old.
func cut(spans []*Span, wanted int) (pieces []piece) {
	total := int64(0)
	for _, s := range spans {
		total += s.Left()
	}
	most := max(total/int64(max(wanted, 1))+1, leastPiece)
	for _, s := range spans {
		for from := s.Next; from < s.End; from += most {
			part := &Span{Topic: s.Topic, Partition: s.Partition, Next: from, End: min(from+most, s.End)}
			pieces = append(pieces, piece{s, part})
		}
	}
	slices.Reverse(pieces)
	return pieces
}

// scan is one call of Scan.
type scan struct {
	client *kgo.Client
	texts  [][]byte

	mu     sync.Mutex
	topics kadm.TopicDetails
	each   func(*kgo.Record) error
}

// locate asks who leads the partitions.
func (s *scan) locate(ctx context.Context, spans []*Span) error {
	names := make([]string, 0, len(spans))
	for _, span := range spans {
		names = append(names, span.Topic)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil // the library takes none for all
	}
	found, err := kadm.NewClient(s.client).ListTopics(ctx, slices.Compact(names)...)
	if err != nil {
		return fmt.Errorf("look up topics: %w", err)
	}
	s.mu.Lock()
	s.topics = found
	s.mu.Unlock()
	return nil
}

// read reads one part to its end. What a client would try again is tried again.
func (s *scan) read(ctx context.Context, part *Span) error {
	pause := waiting.First
	for !part.Done() {
		err := s.fetch(ctx, part)
		switch {
		case err == nil:
			pause = waiting.First
			continue
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !kerr.IsRetriable(err):
			return fmt.Errorf("read %s[%d] from %d: %w", part.Topic, part.Partition, part.Next, err)
		}
		if !waiting.Sleep(ctx, pause) {
			return fmt.Errorf("read %s[%d] from %d: %w", part.Topic, part.Partition, part.Next, errors.Join(context.Cause(ctx), err))
		}
		pause = waiting.Next(pause)
		if err = s.locate(ctx, []*Span{part}); err != nil {
			return err
		}
	}
	return nil
}

// fetch looks at what one fetch returns.
func (s *scan) fetch(ctx context.Context, part *Span) error {
	s.mu.Lock()
	topic := s.topics[part.Topic]
	s.mu.Unlock()
	leader := topic.Partitions[part.Partition]
	if err := errors.Join(topic.Err, leader.Err); err != nil {
		return err
	}
	resp, err := s.client.Broker(int(leader.Leader)).RetriableRequest(ctx, partRequest(&topic, part.Partition, part.Next, scanBytes))
	if err != nil {
		return err
	}
	answer, err := onePartition(resp)
	if err != nil {
		return err
	}
	if err = kerr.ErrorForCode(answer.ErrorCode); err != nil {
		gone, err := beyond(ctx, s.client, part.Topic, part.Partition, part.Next, err)
		if err == nil {
			part.delete(gone.Next)
		}
		return err
	}
	return s.look(part, answer)
}

// look hands out what one answer has of a part, and moves the part behind it.
func (s *scan) look(part *Span, answer *kmsg.FetchResponseTopicPartition) error {
	hit, next, err := holds(answer.RecordBatches, s.texts)
	if err != nil {
		return err
	}
	if next <= part.Next { // nothing that could be read
		if answer.LastStableOffset < part.End {
			return fmt.Errorf("committed records end at %d, expected them up to %d", answer.LastStableOffset, part.End)
		}
		part.Next = part.End
		return nil
	}
	if !hit {
		part.Next = next
		return nil
	}
	// All of the answer, for its markers tell what was aborted.
	read, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{
		Offset: part.Next, IsolationLevel: kgo.ReadCommitted(), Topic: part.Topic, Partition: part.Partition,
	}, answer, kgo.DefaultDecompressor(), nil)
	if read.Err != nil {
		return read.Err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range read.Records {
		if r.Offset < part.End {
			part.Records++
			if err := s.each(r); err != nil {
				return err
			}
		}
	}
	part.Next = next
	return nil
}

// Places of the fields of a batch of records, of the only format that brokers have
// returned since Apache Kafka 4.0, and that is written since 0.11.
const (
	batchLength     = 8
	batchMagic      = 16
	batchAttributes = 21
	batchLastDelta  = 23
	batchRecords    = 61
	codecBits       = 0x7
)

var decompressor = sync.OnceValue(func() kgo.Decompressor { return kgo.DefaultDecompressor() })

// holds reports whether batches hold one of some texts, and the offset behind the last
// whole one; zero: there is none.
func holds(batches []byte, texts [][]byte) (hit bool, next int64, err error) {
	for len(batches) >= batchRecords {
		length := int64(binary.BigEndian.Uint32(batches[batchLength:])) + batchLength + 4
		if length > int64(len(batches)) {
			break // the rest of it comes with the next fetch
		}
		if length < batchRecords || batches[batchMagic] != 2 {
			return false, 0, fmt.Errorf("a batch of %d bytes, format %d: expected format 2", length, batches[batchMagic])
		}
		batch := batches[:length]
		batches = batches[length:]
		next = int64(binary.BigEndian.Uint64(batch)) + int64(binary.BigEndian.Uint32(batch[batchLastDelta:])) + 1
		if hit {
			continue
		}
		records := batch[batchRecords:]
		if codec := kgo.CompressionCodecType(batch[batchAttributes+1] & codecBits); codec != kgo.CodecNone {
			if records, err = decompressor().Decompress(records, codec); err != nil {
				return false, 0, fmt.Errorf("decompress a batch before %d: %w", next, err)
			}
		}
		hit = slices.ContainsFunc(texts, func(text []byte) bool { return bytes.Contains(records, text) })
	}
	return hit, next, nil
}
