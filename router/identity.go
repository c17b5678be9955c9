package router

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// identities is how many transactional ids a router has. It uses the first, and the
// next when that one's last transaction does not come to its end.
const identities = 8

// transactionalID is the id of the present session.
func (r *Router) transactionalID() string { return r.idOf(r.identity) }

func (r *Router) idOf(identity int) string {
	if identity == 0 {
		return r.set.TransactionalID
	}
	return r.set.TransactionalID + "." + strconv.Itoa(identity)
}

// identify asks for the producer id, which ends the transaction that a killed
// predecessor left open. Without it the predecessor's pending offsets hold up our own
// first offset fetch for the whole transaction timeout.
//
// A transaction ends when each partition that it wrote to has its marker. A partition
// that lost its leader meanwhile gets none for as long as that lasts, and the id
// begins no other transaction until then: one destination's topic would keep this
// router from routing anything. What became of that transaction is decided, so
// another id may go on behind it: offsets that wait for the end of theirs are not
// shown to the group before (KIP-447).
func (r *Router) identify(ctx context.Context, cl *kgo.Client) error {
	for {
		err := r.producerID(ctx, cl)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		held, failed := r.unfinished(ctx)
		if failed != nil {
			r.log.Debug("look at the last transaction failed", "error", failed)
		}
		if len(held) > 0 {
			return r.rename(held)
		}
	}
}

func (r *Router) producerID(ctx context.Context, cl *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.TransactionTimeout/2)
	defer cancel()
	if _, _, err := cl.ProducerID(ctx); err != nil {
		return fmt.Errorf("initialise transactional id %q: %w", r.transactionalID(), err)
	}
	return nil
}

func (r *Router) unfinished(ctx context.Context) (map[string][]int32, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	return r.set.Topics.Unfinished(ctx, r.transactionalID())
}

// rename has the next session use another transactional id, and says why.
func (r *Router) rename(held map[string][]int32) error {
	stuck := r.transactionalID()
	r.identity = (r.identity + 1) % identities
	topics := slices.Sorted(maps.Keys(held))
	for _, topic := range topics {
		if _, deliver := schemas.DestinationOf(topic); deliver {
			r.leaveOut(topic, orphan(held[topic]))
		}
	}
	return fmt.Errorf("the last transaction of %q waits for partitions of %v, going on as %q", stuck, topics, r.transactionalID())
}
