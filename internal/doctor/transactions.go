package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
)

const (
	// forgottenAfter is how long ago a transaction was last written to that nobody
	// will end. One whose end is being written looks the same for a moment.
	forgottenAfter = 30 * time.Second
	// pendingPause is between two looks at offsets that are pending: those of a
	// stage at work move on.
	pendingPause = 3 * time.Second
)

// holdFacts is what transactions keep from readers.
type holdFacts struct {
	holds []hanging.Hold
	// pending are partitions whose offsets did not get stable between two looks. They
	// are looked for where the transactions themselves may not be seen.
	pending []pendingFacts
}

// pendingFacts are partitions of a topic on which a stage does not get on.
type pendingFacts struct {
	stage      *pipeline.Stage
	topic      pipeline.Topic
	partitions []int32
}

// lookAtTransactions looks for open transactions on our topics and among the
// offsets of groups.
func lookAtTransactions(ctx context.Context, admin *topics.Admin, expected []string, stages pipeline.Stages) (holdFacts, error) {
	var facts holdFacts
	var err error
	if facts.holds, err = hanging.Holds(ctx, admin.Client, expected...); err != nil {
		return facts, err
	}
	offsets, err := hanging.Holds(ctx, admin.Client, hanging.TopicOffsets)
	facts.holds = append(facts.holds, offsets...)
	if err == nil {
		return facts, nil
	}
	for _, s := range stages {
		if !s.Transactional() {
			continue
		}
		for _, t := range s.Shared() {
			partitions, err := stillPending(ctx, admin, s.Group.Name, t.Name)
			if err != nil {
				return facts, err
			}
			if len(partitions) > 0 {
				facts.pending = append(facts.pending, pendingFacts{s, t, partitions})
			}
		}
	}
	return facts, nil
}

// stillPending looks twice.
func stillPending(ctx context.Context, admin *topics.Admin, group, topic string) ([]int32, error) {
	first, err := hanging.Pending(ctx, admin.Client, group, topic)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	if !waiting.Sleep(ctx, pendingPause) {
		return nil, context.Cause(ctx)
	}
	second, err := hanging.Pending(ctx, admin.Client, group, topic)
	maps.DeleteFunc(second, func(partition int32, before int64) bool {
		was, known := first[partition]
		return !known || was != before
	})
	return slices.Sorted(maps.Keys(second)), err
}

// judgeTransactions judges whether somebody will end what is open. The brokers are
// those to give to a command.
func judgeTransactions(facts holdFacts, stages pipeline.Stages, brokers []string, now time.Time) []Finding {
	f := &findings{check: CheckTransactions}
	for i := range facts.holds {
		h := &facts.holds[i]
		foreign := h.Topic == hanging.TopicOffsets && !strings.HasPrefix(cmp.Or(h.TransactionalID, schemas.OwnPrefix), schemas.OwnPrefix)
		if h.Known || foreign || now.Sub(h.Written) < forgottenAfter {
			continue
		}
		of := ownerOf(h, stages)
		holder := fmt.Sprintf("producer %d, %s", h.ProducerID, cmp.Or(h.TransactionalID, "transactional id unknown"))
		f.problem(fmt.Sprintf("%s[%d]", h.Topic, h.Partition),
			fmt.Sprintf("a transaction has been open since %s (%s), and its coordinator has no record of it: %s", terminal.Moment(h.Written), holder, consequence(h, of)),
			remedy(h, of, brokers))
	}
	for _, p := range facts.pending {
		f.warn(p.topic.Name, fmt.Sprintf("the %s's offsets of partitions %v are pending in a transaction, and nothing of them is %s until it ends", p.stage.Name, p.partitions, p.topic.Consumed.Done),
			"check again in a minute; if it persists, run doctor as a principal with Read on "+hanging.TopicOffsets+" and Describe on transactional ids "+schemas.OwnPrefix+"*, which sees who holds them")
	}
	return f.otherwise("no transaction was abandoned")
}

// owner is the stage whose transaction holds up offsets of its group, and which of its
// processes. Without one it is not known what is done with the events, but that they
// are read.
type owner struct {
	stage    *pipeline.Stage
	instance string
	done     string // as in "routed"
}

func ownerOf(h *hanging.Hold, stages pipeline.Stages) owner {
	for _, s := range stages {
		if instance, own := strings.CutPrefix(h.TransactionalID, s.Transactions.Prefix); own && s.Transactional() {
			return owner{s, instance, pipeline.Stages{s}.Consumed()[0].Consumed.Done}
		}
	}
	return owner{done: "read"}
}

// consequence is what a forgotten transaction does.
func consequence(h *hanging.Hold, of owner) string {
	if h.Topic == hanging.TopicOffsets {
		return "partitions whose offsets it holds are not " + of.done
	}
	return fmt.Sprintf("nothing from offset %d on is read", h.Start)
}

// remedy is how it can be ended. An abort takes back what had perhaps been
// committed elsewhere: where it is about offsets, events come twice, and where it is
// about events, they are lost.
func remedy(h *hanging.Hold, of owner, brokers []string) string {
	abort := fmt.Sprintf("kafka-transactions.sh --bootstrap-server %s abort --topic %s --partition %d --start-offset %d", strings.Join(brokers, ","), h.Topic, h.Partition, h.Start)
	switch {
	case h.Topic != hanging.TopicOffsets && of.stage != nil:
		return fmt.Sprintf("a %s with INSTANCE_ID=%s ends it when it starts, so start or restart it; without one: %s, which discards what was written there", of.stage.Name, of.instance, abort)
	case h.Topic != hanging.TopicOffsets:
		return fmt.Sprintf("it ends with the next transaction of its producer that writes there; if that producer is gone for good: %s, which discards what it wrote there", abort)
	}
	abort += ", after which events of that transaction may be " + of.done + " twice"
	if of.stage == nil {
		return abort
	}
	return fmt.Sprintf("a %s with INSTANCE_ID=%s ends it within a minute, so start it; without one: %s", of.stage.Name, of.instance, abort)
}
