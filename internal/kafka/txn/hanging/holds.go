package hanging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/internal/lookup"
)

// TopicOffsets is where brokers keep what groups have committed.
const TopicOffsets = "__consumer_offsets"

// Hold is a transaction that is open on a partition: readers of committed records
// see nothing from its first record on, whoever wrote it.
type Hold struct {
	Topic      string
	Partition  int32
	Start      int64 // offset of the transaction's first record there
	Written    time.Time
	ProducerID int64
	// TransactionalID is empty where the brokers have forgotten it, or may not tell us.
	TransactionalID string
	// Known is whether the transaction's coordinator will end it there. Where it will
	// not, nobody does.
	Known bool
}

// Holds returns the transactions that are open on partitions of topics, in order.
// Topics that do not exist have none.
func Holds(ctx context.Context, cl *kgo.Client, topics ...string) ([]Hold, error) {
	if len(topics) == 0 {
		return nil, nil // the library takes none for all
	}
	admin := kadm.NewClient(cl)
	held, err := behindStable(ctx, admin, topics...)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	return holders(ctx, admin, held)
}

// behindStable returns the partitions of topics that have records behind the last one
// that readers of committed records see.
func behindStable(ctx context.Context, admin *kadm.Client, topics ...string) (kadm.TopicsSet, error) {
	// The ends first: what is committed meanwhile would look open.
	ends, err := lookup.Listed(admin.ListEndOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	stable, err := lookup.Listed(admin.ListCommittedOffsets(ctx, topics...))
	if err != nil {
		return nil, err
	}
	held := make(kadm.TopicsSet)
	ends.Each(func(end kadm.ListedOffset) {
		if at, there := stable.Lookup(end.Topic, end.Partition); there && at.Offset < end.Offset {
			held.Add(end.Topic, end.Partition)
		}
	})
	return held, nil
}

func holders(ctx context.Context, admin *kadm.Client, held kadm.TopicsSet) ([]Hold, error) {
	described, err := admin.DescribeProducers(ctx, held)
	if err != nil {
		return nil, fmt.Errorf("describe producers: %w", err)
	}
	var holds []Hold
	for topic, partitions := range described {
		for partition, producers := range partitions.Partitions {
			if producers.Err != nil {
				return nil, fmt.Errorf("describe producers of %s[%d]: %w", topic, partition, producers.Err)
			}
			for _, p := range producers.ActiveProducers {
				if p.CurrentTxnStartOffset >= 0 {
					holds = append(holds, Hold{Topic: topic, Partition: partition, Start: p.CurrentTxnStartOffset, Written: time.UnixMilli(p.LastTimestamp), ProducerID: p.ProducerID})
				}
			}
		}
	}
	slices.SortFunc(holds, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Start, b.Start))
	})
	return holds, identify(ctx, admin, holds)
}

// identify enters what the coordinators know of the transactions.
func identify(ctx context.Context, admin *kadm.Client, holds []Hold) error {
	producers := make([]int64, 0, len(holds))
	for i := range holds {
		producers = append(producers, holds[i].ProducerID)
	}
	slices.Sort(producers)
	listed, err := admin.ListTransactions(ctx, slices.Compact(producers), nil)
	if err != nil {
		return fmt.Errorf("list transactions: %w", err)
	}
	ids := listed.TransactionalIDs()
	if len(ids) == 0 {
		return nil // none for all
	}
	transactions, err := admin.DescribeTransactions(ctx, ids...)
	if err != nil {
		return fmt.Errorf("describe transactions: %w", err)
	}
	for id, tx := range transactions {
		if tx.Err != nil && !errors.Is(tx.Err, kerr.TransactionalIDNotFound) {
			return fmt.Errorf("describe transaction %s: %w", id, tx.Err)
		}
		for i := range holds {
			if h := &holds[i]; h.ProducerID == listed[id].ProducerID {
				h.TransactionalID = id
				// Before its decision a coordinator lists what takes part, and after
				// that what has no marker yet.
				_, h.Known = tx.Topics[h.Topic][h.Partition]
			}
		}
	}
	return nil
}
