package work

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// Producer writes records and waits for their acknowledgement, through topics that go
// missing or are made anew. It may be used by many goroutines.
type Producer struct {
	shared *kafka.Replaceable
	// alone has each record travel in a batch of its own, one after the other.
	alone  *kafka.Replaceable
	ensure func(ctx context.Context, topics ...string) error
	log    *slog.Logger
}

// NewProducer returns a producer that has not yet spoken to a broker. ensure creates topics
// that are missing. The error is that of options that do not go together.
func NewProducer(options []kgo.Opt, ensure func(ctx context.Context, topics ...string) error, log *slog.Logger) (*Producer, error) {
	// Who waits for a record that is given up is told by its promise.
	shared, err := kafka.NewReplaceable(options, func(error) {})
	if err != nil {
		return nil, err
	}
	// With room for one record there is never a second one to share its batch, and
	// none to wait for.
	single := append(slices.Clone(options), kgo.MaxBufferedRecords(1), kgo.ProducerLinger(0))
	alone, err := kafka.NewReplaceable(single, func(error) {})
	if err != nil {
		shared.Close(over())
		return nil, err
	}
	return &Producer{shared: shared, alone: alone, ensure: ensure, log: log}, nil
}

// Write produces one record and waits for its acknowledgement. After an error the
// record may have been written all the same; that a topic is missing or another one
// has been seen to by then, so that writing again has a chance.
//
// An error that says the record is too large is about this record: brokers refuse
// whole batches, so one that was refused in company is written again alone.
func (p *Producer) Write(ctx context.Context, r *kgo.Record) error {
	err := p.write(ctx, p.shared, r)
	if kafka.TooLarge(err) {
		return p.write(ctx, p.alone, r)
	}
	return err
}

// write waits beside the library, which does not let go of a record that may be in
// flight when the context ends: it would have to forget the sequence number.
func (p *Producer) write(ctx context.Context, by *kafka.Replaceable, r *kgo.Record) error {
	acknowledged := make(chan error, 1)
	once := *r // the library writes into what it is given, and may still do so when we try again
	client := by.Client()
	client.Produce(ctx, &once, func(_ *kgo.Record, err error) { acknowledged <- err })
	select {
	case err := <-acknowledged:
		p.mend(ctx, by, client, r.Topic, err)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mend does what a failed write calls for before it is tried again.
func (p *Producer) mend(ctx context.Context, by *kafka.Replaceable, client *kgo.Client, topic string, err error) {
	switch {
	case errors.Is(err, kerr.UnknownTopicID):
		if failure := by.Replace(client); failure != nil { //nolint:contextcheck // the old client outlives the write
			p.log.Warn("a topic was recreated, and the client that knew the old one could not be replaced", "topic", topic, "error", failure)
		}
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		if failure := p.ensure(ctx, topic); failure != nil {
			p.log.Warn("a topic is missing and could not be created", "topic", topic, "error", failure)
		}
	}
}

// Close ends the producer at once. Nobody may be writing any more, or needs to know
// whether what they write is acknowledged.
func (p *Producer) Close() {
	p.shared.Close(over())
	p.alone.Close(over())
}

// over is a context for ends that wait for nothing.
func over() context.Context {
	now, end := context.WithCancel(context.Background())
	end()
	return now
}
