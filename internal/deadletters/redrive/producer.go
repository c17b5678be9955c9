package redrive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// TransactionalID is the same for every run on a cluster.
	TransactionalID = schemas.OwnPrefix + "redrive"

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
	errFenced  = fmt.Errorf("another redrive was started and has taken over, or this one stalled for %s", abandonAfter)
	errUnknown = errors.New("it is not known whether the last batch was sent; the next run finds out")
)

// producer writes batches.
type producer struct{ *txn.Writer }

// open returns a producer once the transaction of a run that died is ended and a
// run that lives is fenced: marks that are read from then on are final.
func open(ctx context.Context, opts []kgo.Opt) (*producer, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	w, err := txn.Open(ctx, TransactionalID, abandonAfter, opts...)
	return &producer{w}, err
}

// parcel is a dead letter with what is written for it.
type parcel struct {
	letter *deadletters.Letter
	event  *kgo.Record
	mark   *kgo.Record
}

// pack makes the parcel of a dead letter out of the record that holds its event, for a
// topic, on which it may have arrived.
func pack(l *deadletters.Letter, event *kgo.Record, topic string, arrived bool, now time.Time) (parcel, error) {
	mark, err := deadletters.Mark(l, now, arrived)
	if err != nil {
		return parcel{}, err
	}
	fresh := &kgo.Record{Topic: topic, Key: event.Key, Value: event.Value}
	kafka.SetHeaders(fresh, &schemas.Headers{
		Version:      l.Headers.Version,
		Source:       l.Headers.Source,
		Type:         l.Headers.Type,
		MessageID:    l.Headers.MessageID,
		Integrations: l.Headers.Integrations,
		Only:         l.Headers.Only,
		Origin:       schemas.OriginReplay,
		Run:          l.Headers.Run,
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
	err := p.transact(context.WithoutCancel(ctx), parcels)
	switch {
	case kafka.Fenced(err):
		return fmt.Errorf("%w: %w", errFenced, err)
	case errors.Is(err, txn.ErrUnknown):
		return fmt.Errorf("%w: %w", errUnknown, err)
	case !kafka.TooLarge(err) && err != nil:
		return err
	case err != nil && len(parcels) == 1:
		settled(parcels[0], tooLarge)
		return nil
	case err != nil:
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

// transact sends parcels in one transaction.
func (p *producer) transact(ctx context.Context, parcels []parcel) error {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	return p.Write(ctx, recordsOf(parcels))
}

// recordsOf returns copies: the library notes the context in what it is given, and a
// halved batch is written again under another one.
func recordsOf(parcels []parcel) []*kgo.Record {
	records := make([]*kgo.Record, 0, 2*len(parcels))
	for _, each := range parcels {
		event, mark := *each.event, *each.mark
		records = append(records, &event, &mark)
	}
	return records
}
