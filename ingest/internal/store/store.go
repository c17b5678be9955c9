package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/topics"
)

// Why records were not stored, apart from what the client says.
var (
	errNoBrokers = errors.New("the brokers do not answer")
	errNoRoom    = errors.New("too many records are waiting for the brokers")
	errFull      = errors.New("the broker accepts no more events for now")
	errDeadline  = errors.New("the brokers have not acknowledged in time")
)

// Options are what a Store is made with. All of them are needed but Kafka and Full.
type Options struct {
	Logger  *slog.Logger
	Latency prometheus.Observer // seconds of each Put that got as far as the client
	Kafka   []kgo.Opt           // what every client of the process shares
	Topics  *topics.Admin       // creates the topics should they be missing
	Full    func() error        // why raw-events may not grow for now; nil: it may at any time

	Timeout    time.Duration // of a Put
	Linger     time.Duration // how long a record waits for others to be sent with it
	MaxRecords int           // that may wait for the brokers at a time
	MaxBytes   int           // of them
}

// Store hands records to the brokers and waits for their acknowledgement. It
// may be used by many goroutines.
type Store struct {
	log     *slog.Logger
	client  *kafka.Replaceable
	topics  *topics.Admin
	full    func() error
	room    room
	link    *link
	timeout time.Duration
	latency prometheus.Observer
	gone    atomic.Bool // a topic is not what the client knows; until the prober has looked after it
}

// New returns a store that has not yet spoken to a broker; Watch makes it ready.
// The error is that of a client whose options do not go together.
func New(opts Options) (*Store, error) {
	s := &Store{
		log:     opts.Logger,
		topics:  opts.Topics,
		full:    opts.Full,
		room:    room{records: opts.MaxRecords, bytes: opts.MaxBytes},
		link:    newLink(),
		timeout: opts.Timeout,
		latency: opts.Latency,
	}
	client, err := kafka.NewReplaceable(slices.Concat(opts.Kafka, producerOptions(&opts)), func(err error) {
		s.log.Warn("events left in the client are given up; their requests were answered 503", "error", err)
	})
	if err != nil {
		return nil, err
	}
	s.client = client
	return s, nil
}

// producerOptions: idempotent writes to all in-sync replicas are the client's
// default and stated for those who look for them.
func producerOptions(opts *Options) []kgo.Opt {
	return []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerLinger(opts.Linger),
		kgo.ProducerBatchCompression(kgo.SnappyCompression(), kgo.NoCompression()),
		// What nobody waits for any more is given up as soon as that cannot break
		// the sequence of an idempotent producer.
		kgo.RecordDeliveryTimeout(opts.Timeout + opts.Linger),
		// The room is what bounds the client. It is given back a moment before the
		// client's own count goes down, so the client's bounds lie above it.
		kgo.MaxBufferedRecords(2 * opts.MaxRecords),
		kgo.MaxBufferedBytes(2 * opts.MaxBytes),
	}
}

// Ready returns nil while the brokers answer and the topics exist. Otherwise it
// says what is missing, at once.
func (s *Store) Ready() error {
	_, err := s.link.open()
	return err
}

// Takes returns nil while the store is ready and raw-events may grow: a batch put
// now is taken, if there is room for it. Otherwise it says why not, at once.
func (s *Store) Takes() error {
	if err := s.Ready(); err != nil || s.full == nil {
		return err
	}
	if err := s.full(); err != nil {
		return fmt.Errorf("%w: %w", errFull, err)
	}
	return nil
}

// Put returns nil when every record of b, one at least, is acknowledged by all
// in-sync replicas. Any error claims nothing: some records may be stored, or be stored
// later. It takes all records or none: without room for them, or while the
// brokers do not answer, it fails at once.
//
// It has no context: an idempotent producer does not honour one once a record
// may be in flight (a ProduceSync with a context of one second was seen to block
// for seventy), and a client that hangs up does not take back what it has sent.
// It ends after Options.Timeout, or soon after the brokers have gone.
func (s *Store) Put(b Batch) error {
	gone, err := s.link.open()
	if err != nil {
		return err
	}
	if !s.room.take(len(b.records), b.bytes) {
		return errNoRoom
	}
	began := time.Now()
	defer func() { s.latency.Observe(time.Since(began).Seconds()) }()
	w := &wait{store: s, records: len(b.records), bytes: b.bytes, left: len(b.records), done: make(chan struct{})}
	client := s.client.Client()
	for i := range b.records {
		client.TryProduce(context.Background(), &b.records[i], w.promise)
	}
	return w.until(s.timeout, gone)
}

// Close ends the client. What is left in it is tried for two seconds at most, or
// until ctx ends; what is given up then is logged, for nobody was told that it is
// stored: a Put that is still under way fails.
func (s *Store) Close(ctx context.Context) { s.client.Close(ctx) }
