package load

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
)

// Stream is the events of one producer for one topic.
type Stream struct {
	topic   string
	counter counter
}

// NewStream returns a stream that makes events of so many users.
func NewStream(run, producer, topic string, keys int) *Stream {
	return &Stream{topic: topic, counter: counter{run: run, producer: producer, keys: keys}}
}

// PartitionStreams returns a stream for each partition of a topic, whose so many
// users all have their events there: what happens to a partition is then seen in
// the books of its stream. Topics with as many partitions agree on who is where.
func PartitionStreams(run, producer, topic string, partitions, keys int) []*Stream {
	all := make([]*Stream, partitions)
	for i := range all {
		all[i] = &Stream{topic: topic, counter: counter{run: run, producer: fmt.Sprintf("%s-p%d", producer, i)}}
	}
	place := kgo.StickyKeyPartitioner(nil).ForTopic(topic)
	for key, short := 0, partitions; short > 0; key++ {
		in := &all[place.Partition(&kgo.Record{Key: []byte(user(books.Stamp{Key: key}))}, partitions)].counter
		if len(in.among) == keys {
			continue
		}
		if in.among = append(in.among, key); len(in.among) == keys {
			short--
		}
	}
	return all
}

// Producer is the name under which the books keep its events.
func (s *Stream) Producer() string { return s.counter.producer }

// Writer writes events to topics and notes in the books those that the broker
// acknowledged.
type Writer struct {
	Client *kgo.Client
	Books  *books.Books
	Source string // id of the source that the events are said to come from
}

// Run writes events at the rate, to the streams in turn, until ctx ends, and
// waits for the broker's acknowledgements.
func (w *Writer) Run(ctx context.Context, rate int, streams ...*Stream) error {
	n := 0
	Pace(ctx, rate, func() {
		w.write(ctx, streams[n%len(streams)])
		n++
	})
	return w.flush(ctx)
}

// Fill writes n events to each of the streams as fast as the broker takes them.
func (w *Writer) Fill(ctx context.Context, n int, streams ...*Stream) error {
	for range n {
		for _, s := range streams {
			w.write(ctx, s)
		}
	}
	return w.flush(ctx)
}

// Pour writes n events to each of the streams at a rate over all of them.
func (w *Writer) Pour(ctx context.Context, rate, n int, streams ...*Stream) error {
	ctx, done := context.WithCancel(ctx)
	defer done()
	written := 0
	Pace(ctx, rate, func() {
		w.write(ctx, streams[written%len(streams)])
		if written++; written == n*len(streams) {
			done()
		}
	})
	return w.flush(ctx)
}

func (w *Writer) write(ctx context.Context, s *Stream) {
	stamp := s.counter.stamp(time.Now())
	rec := &kgo.Record{Topic: s.topic, Key: []byte(user(stamp)), Value: event(stamp)}
	kafka.SetHeaders(rec, &schemas.Headers{Source: w.Source, Type: schemas.TypeTrack, MessageID: stamp.String(), Origin: schemas.OriginAPI})
	w.Client.Produce(context.WithoutCancel(ctx), rec, func(_ *kgo.Record, err error) {
		if err == nil {
			w.Books.Stored(stamp, time.Now())
		}
	})
}

// flush outlives ctx, whose end is the end of the load and not of its records.
func (w *Writer) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := w.Client.Flush(ctx); err != nil {
		return fmt.Errorf("wait for the acknowledgements of the load: %w", err)
	}
	return nil
}
