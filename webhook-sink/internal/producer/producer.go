package producer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Producer writes records. It may be used by many goroutines.
type Producer struct {
	options []kgo.Opt
	ensure  func(ctx context.Context, topics ...string) error
	log     *slog.Logger

	client   atomic.Pointer[kgo.Client] // replaced by renew
	renewing sync.Mutex
	retired  sync.WaitGroup // the ends of those that were
	closing  chan struct{}
}

// New returns a producer that has not yet spoken to a broker. ensure creates topics
// that are missing. The error is that of options that do not go together.
func New(options []kgo.Opt, ensure func(ctx context.Context, topics ...string) error, log *slog.Logger) (*Producer, error) {
	p := &Producer{options: options, ensure: ensure, log: log, closing: make(chan struct{})}
	return p, p.renew(nil)
}

// Write produces one record and waits for its acknowledgement. After an error the
// record may have been written all the same; that a topic is missing or another one
// has been seen to by then, so that writing again has a chance.
//
// It waits beside the library, which does not let go of a record that may be in
// flight when the context ends: it would have to forget the sequence number.
func (p *Producer) Write(ctx context.Context, r *kgo.Record) error {
	acknowledged := make(chan error, 1)
	once := *r // the library writes into what it is given, and may still do so when we try again
	client := p.client.Load()
	client.Produce(ctx, &once, func(_ *kgo.Record, err error) { acknowledged <- err })
	select {
	case err := <-acknowledged:
		p.mend(ctx, client, r.Topic, err)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mend does what a failed write calls for before it is tried again.
func (p *Producer) mend(ctx context.Context, client *kgo.Client, topic string, err error) {
	switch {
	case errors.Is(err, kerr.UnknownTopicID):
		if failure := p.renew(client); failure != nil { //nolint:contextcheck // the old client outlives the write
			p.log.Warn("a topic was made anew, and the client that knew the old one could not be replaced", "topic", topic, "error", failure)
		}
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		if failure := p.ensure(ctx, topic); failure != nil {
			p.log.Warn("a topic is missing and could not be created", "topic", topic, "error", failure)
		}
	}
}

// renew puts a new client in the place of one that holds on to the id of a topic
// that was deleted and made anew, unless that has been done.
//
// To have the client forget the topic is no cure: it would number records from the
// start again under the same producer id. Where the topic is still the same, one
// broker not having known it for a moment, the brokers take such records for
// repetitions: they acknowledge them and store nothing. A new client has a new
// producer id.
func (p *Producer) renew(known *kgo.Client) error {
	p.renewing.Lock()
	defer p.renewing.Unlock()
	if p.client.Load() != known {
		return nil
	}
	client, err := kgo.NewClient(p.options...)
	if err != nil {
		return fmt.Errorf("create a producer: %w", err)
	}
	p.client.Store(client)
	if known != nil {
		p.retired.Go(func() { p.end(known) })
	}
	return nil
}

// flushTimeout bounds the wait for what others have given to a client that is
// replaced. What fails then is written again by them.
const flushTimeout = 2 * time.Second

func (p *Producer) end(client *kgo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	flushed := make(chan struct{})
	p.retired.Go(func() {
		_ = client.Flush(ctx) // who waits is told by the record's own promise
		close(flushed)
	})
	select {
	case <-flushed:
	case <-p.closing:
		cancel()
	}
	client.Close()
}

// Close ends the producer. Nobody may be writing any more, or needs to know whether
// what they write is acknowledged. It is called once.
func (p *Producer) Close() {
	close(p.closing)
	p.client.Load().Close()
	p.retired.Wait()
}
