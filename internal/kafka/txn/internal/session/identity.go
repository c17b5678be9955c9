package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
)

const (
	// identities is how many transactional ids a process has. It uses the first, and the
	// next when that one's last transaction does not come to its end.
	identities = 8
	// lookTime bounds a look at a transaction.
	lookTime = 5 * time.Second
)

// Identity is which of its transactional ids a process uses.
type Identity int

// Next has the next id used.
func (i *Identity) Next() { *i = (*i + 1) % identities }

// IDs are those of the process, the one in use first.
func (i *Identity) IDs(id string) []string {
	ids := make([]string, identities)
	for n := range ids {
		ids[n] = id
		if at := (int(*i) + n) % identities; at > 0 {
			ids[n] += "." + strconv.Itoa(at)
		}
	}
	return ids
}

// Identify asks for the producer id, which ends the transaction that a killed
// predecessor left open. Without it the predecessor's pending offsets hold up our own
// first offset fetch for the whole transaction timeout.
//
// A transaction ends when each partition that it wrote to has its marker. A partition
// that lost its leader meanwhile gets none for as long as that lasts, and the id
// begins no other transaction until then: one output topic would keep this
// process from processing anything. What became of that transaction is decided, so
// another id may go on behind it: offsets that wait for the end of theirs are not
// shown to the group before (KIP-447). Held are the partitions that such a transaction
// waits for.
func (s *Session) Identify(ctx context.Context) (held map[string][]int32, err error) {
	for {
		err := s.producerID(ctx)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		held, failed := s.ending(ctx)
		if failed != nil {
			s.input.Log.Debug("checking the last transaction failed", "error", failed)
		}
		if len(held) > 0 {
			return held, nil
		}
	}
}

func (s *Session) producerID(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.set.TransactionTimeout/2)
	defer cancel()
	if _, _, err := s.Client().ProducerID(ctx); err != nil {
		return fmt.Errorf("initialise transactional id %q: %w", s.id, err)
	}
	return nil
}

// ending is asked of another client: ours waits for its producer id.
func (s *Session) ending(ctx context.Context) (map[string][]int32, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return hanging.Ending(ctx, s.input.Topics.Client, s.id)
}
