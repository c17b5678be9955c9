package digest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/seen"
)

const (
	// oldest is how long a digest waits for more, and lookEvery how often that is looked at.
	oldest    = 10 * time.Second
	lookEvery = time.Second
	// delivery is how long a digest is tried to write. One that is missing is no harm.
	delivery = 30 * time.Second
	// closing bounds the last writes of a process.
	closing = time.Second
	// mostWaiting is how many digests wait for brokers that are away.
	mostWaiting = 256
)

// Writer writes the digests of partitions. It waits for no broker.
type Writer struct {
	client *kgo.Client
	topic  string
	failed func(error)

	mu      sync.Mutex
	pending map[int32]*waiting
}

// waiting is a digest that waits for more.
type waiting struct {
	digest

	since time.Time
}

// NewWriter returns a writer to a topic. opts are what every client of the process shares;
// failed is told of digests that could not be written.
func NewWriter(opts []kgo.Opt, topic string, failed func(error)) (*Writer, error) {
	cl, err := kgo.NewClient(append(slices.Clip(opts),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		// A digest that is there twice says the same twice.
		kgo.DisableIdempotentWrite(),
		kgo.ProducerBatchCompression(kgo.NoCompression()), // they are random
		kgo.ProducerLinger(0),
		kgo.RecordDeliveryTimeout(delivery),
		kgo.MaxBufferedRecords(mostWaiting),
	)...)
	if err != nil {
		return nil, fmt.Errorf("create the client for %s: %w", topic, err)
	}
	return &Writer{client: cl, topic: topic, failed: failed, pending: make(map[int32]*waiting)}, nil
}

// Run writes what has waited long enough until ctx ends, and the rest then.
func (w *Writer) Run(ctx context.Context) {
	defer w.client.Close()
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			w.flush(oldest) //nolint:contextcheck // what is written outlives the stop
		case <-ctx.Done():
			w.flush(0) //nolint:contextcheck // as above
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
			defer cancel()
			_ = w.client.Flush(last) // what is missing is no harm
			return
		}
	}
}

// Add adds what a batch has, whose transaction has committed, of a partition from an
// offset up to another.
func (w *Writer) Add(partition int32, from, to int64, b *seen.Batch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	of := b.Set().Identity()
	for upTo, fps := range b.Parts(to) {
		d := w.pending[partition]
		if d != nil && (d.of != of || d.bucket != b.Bucket() || d.to != from || len(d.fps)+len(fps) > Most) {
			w.write(partition, d)
			d = nil
		}
		if d == nil {
			d = &waiting{digest{of: of, from: from, bucket: b.Bucket()}, time.Now()}
			w.pending[partition] = d
		}
		d.fps, d.to = append(d.fps, fps...), upTo
		from = upTo
	}
}

// Lost has the digests of partitions written at once: who has them now may want them.
func (w *Writer) Lost(partitions ...int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, num := range partitions {
		if d := w.pending[num]; d != nil {
			w.write(num, d)
		}
	}
}

func (w *Writer) flush(age time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for num, d := range w.pending {
		if time.Since(d.since) >= age {
			w.write(num, d)
		}
	}
}

func (w *Writer) write(partition int32, d *waiting) {
	delete(w.pending, partition)
	if d.from == d.to {
		return
	}
	rec := &kgo.Record{Topic: w.topic, Partition: partition, Value: d.value()}
	w.client.TryProduce(context.Background(), rec, func(_ *kgo.Record, err error) {
		if err != nil {
			w.failed(fmt.Errorf("write a digest to %s[%d]: %w", w.topic, partition, err))
		}
	})
}
