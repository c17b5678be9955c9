package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// forgottenAfter is how long ago a transaction was last written to that nobody
	// will end. One whose end is being written looks the same for a moment.
	forgottenAfter = 30 * time.Second
	// pendingPause is between two looks at offsets that are pending: those of a
	// router at work move on.
	pendingPause = 3 * time.Second
	// ownIDs begin the transactional ids of all that we run, and routerIDs those of
	// routers, before their INSTANCE_ID.
	ownIDs    = "anabranch-"
	routerIDs = ownIDs + "router-"
)

// holdFacts is what transactions keep from readers.
type holdFacts struct {
	holds []kafka.Hold
	// pending are partitions of raw-events whose offsets did not get stable between
	// two looks. They are looked for where the transactions themselves may not be seen.
	pending []int32
}

// lookAtTransactions looks for open transactions on our topics and among the
// offsets of groups, of which the router's is one.
func lookAtTransactions(ctx context.Context, topics *kafka.Topics, expected, routers []string) (holdFacts, error) {
	var facts holdFacts
	var err error
	if facts.holds, err = topics.Holds(ctx, expected...); err != nil {
		return facts, err
	}
	offsets, err := topics.Holds(ctx, kafka.TopicOffsets)
	facts.holds = append(facts.holds, offsets...)
	if err == nil {
		return facts, nil
	}
	for _, group := range routers { // there is one, where it is looked at
		if facts.pending, err = stillPending(ctx, topics, group); err != nil {
			return facts, err
		}
	}
	return facts, nil
}

// stillPending looks twice.
func stillPending(ctx context.Context, topics *kafka.Topics, group string) ([]int32, error) {
	first, err := topics.Pending(ctx, group, schemas.TopicRawEvents)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(pendingPause):
	}
	second, err := topics.Pending(ctx, group, schemas.TopicRawEvents)
	maps.DeleteFunc(second, func(partition int32, before int64) bool {
		was, known := first[partition]
		return !known || was != before
	})
	return slices.Sorted(maps.Keys(second)), err
}

// judgeTransactions judges whether somebody will end what is open. The brokers are
// those to give to a command.
func judgeTransactions(facts holdFacts, brokers []string, now time.Time) []Finding {
	f := &findings{check: CheckTransactions}
	for i := range facts.holds {
		h := &facts.holds[i]
		foreign := h.Topic == kafka.TopicOffsets && !strings.HasPrefix(cmp.Or(h.TransactionalID, ownIDs), ownIDs)
		if h.Known || foreign || now.Sub(h.Written) < forgottenAfter {
			continue
		}
		holder := fmt.Sprintf("producer %d, %s", h.ProducerID, cmp.Or(h.TransactionalID, "transactional id unknown"))
		f.problem(fmt.Sprintf("%s[%d]", h.Topic, h.Partition),
			fmt.Sprintf("a transaction has been open since %s (%s), and its coordinator has no record of it: %s", terminal.Moment(h.Written), holder, consequence(h)),
			remedy(h, brokers))
	}
	if len(facts.pending) > 0 {
		f.warn(schemas.TopicRawEvents, fmt.Sprintf("the router's offsets of partitions %v are pending in a transaction, and nothing of them is routed until it ends", facts.pending),
			"look again in a minute; if it lasts, run doctor as a principal with Read on "+kafka.TopicOffsets+" and Describe on transactional ids "+ownIDs+"*, which sees who holds them")
	}
	return f.otherwise("no transaction was abandoned")
}

// consequence is what a forgotten transaction does.
func consequence(h *kafka.Hold) string {
	if h.Topic == kafka.TopicOffsets {
		return "partitions whose offsets it holds are not routed"
	}
	return fmt.Sprintf("nothing from offset %d on is read", h.Start)
}

// remedy is how it can be ended. An abort takes back what had perhaps been
// committed elsewhere: where it is about offsets, events come twice, and where it is
// about events, they are lost.
func remedy(h *kafka.Hold, brokers []string) string {
	abort := fmt.Sprintf("kafka-transactions.sh --bootstrap-server %s abort --topic %s --partition %d --start-offset %d", strings.Join(brokers, ","), h.Topic, h.Partition, h.Start)
	instance, ofRouter := strings.CutPrefix(h.TransactionalID, routerIDs)
	switch {
	case h.Topic == kafka.TopicOffsets && ofRouter:
		return fmt.Sprintf("a router with INSTANCE_ID=%s ends it within a minute, so start it; without one: %s, after which events of that transaction may be routed twice", instance, abort)
	case h.Topic == kafka.TopicOffsets:
		return abort + ", after which events of that transaction may be routed twice"
	default:
		return fmt.Sprintf("it ends with the next transaction of its producer that writes there; if that producer is gone for good: %s, which discards what it wrote there", abort)
	}
}
