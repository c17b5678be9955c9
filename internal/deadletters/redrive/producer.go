package redrive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// transactionalID is the same for every run on a cluster.
	transactionalID = "anabranch-redrive"

	// abandonAfter is how long a run that died keeps the sink from reading what
	// others write to the same topics, unless the next run ends that before.
	abandonAfter = 10 * time.Second

	// batchTimeout bounds a batch in hand, also after the run is told to stop: the
	// process is cut off eight seconds after that.
	batchTimeout = 6 * time.Second

	openTimeout = 10 * time.Second
)

// Errors of a batch.
var (
	errFenced  = fmt.Errorf("another redrive was started and has taken over, or this one stood still for %s", abandonAfter)
	errUnknown = errors.New("whether the last batch was sent is not known; the next run finds out")
)

// producer writes batches.
type producer struct{ cl *kgo.Client }

// open returns a producer once the transaction of a run that died is ended and a
// run that lives is fenced: marks that are read from then on are final.
func open(ctx context.Context, opts []kgo.Opt) (*producer, error) {
	cl, err := kgo.NewClient(slices.Concat(opts, []kgo.Opt{
		kgo.TransactionalID(transactionalID),
		kgo.TransactionTimeout(abandonAfter),
		kgo.ProducerLinger(0),
	})...)
	if err != nil {
		return nil, fmt.Errorf("create the client of the redrive: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if _, _, err := cl.ProducerID(ctx); err != nil {
		cl.Close()
		return nil, fmt.Errorf("initialise transactional id %q: %w", transactionalID, err)
	}
	return &producer{cl}, nil
}

func (p *producer) close() { p.cl.Close() }

// parcel is a dead letter with what is written for it.
type parcel struct {
	letter *deadletters.Letter
	event  *kgo.Record
	mark   *kgo.Record
}

// pack makes the parcel of a dead letter out of the record that holds its event.
func pack(l *deadletters.Letter, event *kgo.Record, now time.Time) (parcel, error) {
	mark, err := deadletters.Mark(l, now)
	if err != nil {
		return parcel{}, err
	}
	fresh := &kgo.Record{Topic: target(l.Headers.Destination), Key: event.Key, Value: event.Value}
	kafka.SetHeaders(fresh, &schemas.Headers{
		Version:      l.Headers.Version,
		Source:       l.Headers.Source,
		Type:         l.Headers.Type,
		MessageID:    l.Headers.MessageID,
		Integrations: l.Headers.Integrations,
		Origin:       schemas.OriginReplay,
	})
	return parcel{letter: l, event: fresh, mark: mark}, nil
}

func (p parcel) size() int { return len(p.event.Key) + len(p.event.Value) }

// write sends parcels, as a rule in one transaction, and calls settled for each
// one whose end is certain: sent, or refused for its size. The end of ctx does not
// cut a transaction short. After an error the producer is of no more use.
func (p *producer) write(ctx context.Context, parcels []parcel, settled func(parcel, verdict)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	tooBig, err := p.transact(context.WithoutCancel(ctx), parcels)
	switch {
	case err != nil:
		return err
	case tooBig && len(parcels) == 1:
		settled(parcels[0], tooLarge)
		return nil
	case tooBig:
		// What travels with a record that is too large is refused with it, so the
		// refusal does not tell which one that is. Halves keep the order.
		half := len(parcels) / 2
		if err := p.write(ctx, parcels[:half], settled); err != nil {
			return err
		}
		return p.write(ctx, parcels[half:], settled)
	}
	for _, each := range parcels {
		settled(each, send)
	}
	return nil
}

// transact sends parcels in one transaction, which is aborted when a topic refuses
// one of them for its size. After an error of the commit it is not known whether
// they were sent; after any other they were not.
func (p *producer) transact(ctx context.Context, parcels []parcel) (tooBig bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	if err = p.cl.BeginTransaction(); err != nil {
		return false, fmt.Errorf("begin transaction: %w", err)
	}
	err = p.produce(ctx, parcels)
	switch {
	case err == nil:
		return false, p.commit(ctx)
	case fenced(err):
		return false, fmt.Errorf("%w: %w", errFenced, err)
	case kafka.TooLarge(err):
		return true, p.abort(ctx)
	}
	return false, errors.Join(err, p.abort(ctx))
}

// produce returns when all records are acknowledged, or when ctx ends: an
// idempotent producer by itself goes on past the end of its context. The error is
// that of the first record that failed.
func (p *producer) produce(ctx context.Context, parcels []parcel) error {
	var (
		first error // written by promises, which run one after the other
		left  sync.WaitGroup
	)
	left.Add(2 * len(parcels))
	promise := func(r *kgo.Record, err error) {
		defer left.Done()
		if err != nil && first == nil {
			first = fmt.Errorf("write to %s: %w", r.Topic, err)
		}
	}
	for _, each := range parcels {
		// Copies: the library notes the context in what it is given, and a halved
		// batch is written again under another one.
		event, mark := *each.event, *each.mark
		p.cl.Produce(ctx, &event, promise)
		p.cl.Produce(ctx, &mark, promise)
	}
	if err := p.cl.Flush(ctx); err != nil {
		return fmt.Errorf("write %d events: %w", len(parcels), err)
	}
	left.Wait() // Flush may return before the last promise
	return first
}

func (p *producer) commit(ctx context.Context) error {
	err := p.cl.EndTransaction(ctx, kgo.TryCommit)
	switch {
	case err == nil:
		return nil
	case fenced(err):
		return fmt.Errorf("%w: %w", errFenced, err)
	}
	return fmt.Errorf("%w: %w", errUnknown, err)
}

func (p *producer) abort(ctx context.Context) error {
	err := p.cl.AbortBufferedRecords(ctx)
	if err == nil {
		err = p.cl.EndTransaction(ctx, kgo.TryAbort)
	}
	if err != nil {
		return fmt.Errorf("abort transaction: %w", err)
	}
	return nil
}

func fenced(err error) bool {
	for _, cause := range []error{kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.InvalidTxnState} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}
