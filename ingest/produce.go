package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Why records were not stored, apart from what the client says. They are
// wrapped by the answer 503.
var (
	errNoBrokers = errors.New("the brokers do not answer")
	errNoRoom    = errors.New("too many records wait for the brokers")
	errDeadline  = errors.New("the brokers have not acknowledged in time")
)

// producer hands records to the brokers and waits for their acknowledgement.
type producer struct {
	client  *kgo.Client
	room    room
	link    *link
	timeout time.Duration
	latency prometheus.Observer
	// topicGone is set when the brokers no longer have raw-events as the client
	// knows it, until the prober has looked after that.
	topicGone atomic.Bool
}

func newProducer(cfg Config, set Settings, latency prometheus.Observer) (*producer, error) {
	client, err := kgo.NewClient(append(append([]kgo.Opt{}, set.Kafka...), producerOptions(cfg)...)...)
	if err != nil {
		return nil, fmt.Errorf("create the producer: %w", err)
	}
	return &producer{
		client:  client,
		room:    room{records: cfg.MaxBufferedRecords, bytes: cfg.MaxBufferedBytes},
		link:    newLink(),
		timeout: cfg.ProduceTimeout,
		latency: latency,
	}, nil
}

// producerOptions: idempotent writes to all in-sync replicas are the client's
// default and stated for those who look for them.
func producerOptions(cfg Config) []kgo.Opt {
	return []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(cfg.Linger),
		kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression()),
		// What nobody waits for any more is given up as soon as that cannot break
		// the sequence of an idempotent producer.
		kgo.RecordDeliveryTimeout(cfg.ProduceTimeout + cfg.Linger),
		// The room is what bounds the client. It is given back a moment before the
		// client's own count goes down, so the client's bounds lie above it.
		kgo.MaxBufferedRecords(2 * cfg.MaxBufferedRecords),
		kgo.MaxBufferedBytes(2 * cfg.MaxBufferedBytes),
	}
}

// store returns nil when every record is acknowledged. Any error claims
// nothing: some records may be stored, or be stored later.
//
// It does not take the request's context: an idempotent producer does not
// honour one once a record may be in flight (a ProduceSync with a context of
// one second was seen to block for seventy), and a client that hangs up does not
// take back what it has sent.
func (p *producer) store(records []kgo.Record, bytes int) error {
	gone, err := p.link.open()
	if err != nil {
		return err
	}
	if !p.room.take(len(records), bytes) {
		return errNoRoom
	}
	began := time.Now()
	defer func() { p.latency.Observe(time.Since(began).Seconds()) }()
	w := &wait{producer: p, records: len(records), bytes: bytes, left: len(records), done: make(chan struct{})}
	for i := range records {
		p.client.TryProduce(context.Background(), &records[i], w.promise)
	}
	return w.until(p.timeout, gone)
}

// failed notes what an error says of the brokers, whether or not anybody still
// waits for the record.
func (p *producer) failed(err error) {
	if errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition) {
		p.topicGone.Store(true)
	}
}

// wait is the acknowledgement of one request. Its promise is called by one
// goroutine of the client, for one record at a time.
type wait struct {
	producer       *producer
	records, bytes int // the room that the request has taken
	left           int // records without an outcome
	done           chan struct{}
	err            error // the first; read it once done is closed
}

// promise takes in the outcome of one record. The request's is known at the
// first error or the last acknowledgement; its room is held until the client has
// let go of all its records.
func (w *wait) promise(_ *kgo.Record, err error) {
	if err != nil {
		w.producer.failed(err)
	}
	w.left--
	if w.left == 0 {
		w.producer.room.give(w.records, w.bytes)
	}
	if w.err == nil && (err != nil || w.left == 0) {
		w.err = err
		close(w.done)
	}
}

// until waits for the acknowledgement, and for no longer than limit or until
// the brokers are gone.
func (w *wait) until(limit time.Duration, gone <-chan struct{}) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	select {
	case <-w.done:
		return w.err
	case <-gone:
		return errNoBrokers
	case <-deadline.C:
		return errDeadline
	}
}
