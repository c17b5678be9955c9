package webhooksink

import (
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/group"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/work"
)

const (
	// A fetch for which there is nothing yet waits, and a topic that is resumed
	// meanwhile waits with it: shortFetchWait keeps a receiver that answers at once
	// busy, whose queue lasts for 100 ms. Each look costs the brokers some microseconds
	// per partition, so with many topics it is made less often; see fetchWait. At the
	// library's 5 s one destination fell from 5,700 events a second to 964.
	shortFetchWait, longFetchWait = 50 * time.Millisecond, 250 * time.Millisecond
	fetchWaitPerTopic             = 2 * time.Millisecond

	// What a fetch returns counts compressed bytes, and all of it is in memory
	// beside the copies that the queues hold: small portions.
	fetchMaxBytes          = 4 << 20
	fetchMaxPartitionBytes = 128 << 10

	// Events of a destination that is down fail together, and a produce request for
	// each would cost the sink and the brokers as much as a delivery: records wait
	// for company. What is written is a retry that is seconds away, or a dead letter.
	producerLinger = 5 * time.Millisecond
)

// fetchWait is how long a fetch of so many topics may wait. At rest with one
// destination, 50 ms instead of 250 take 0.7 % of a core instead of 0.1 and as much of
// the broker's; with hundreds they would take many times that, and there each
// destination's queue is too small to last any longer.
func fetchWait(topics int) time.Duration {
	return min(max(time.Duration(topics)*fetchWaitPerTopic, shortFetchWait), longFetchWait)
}

// options are those of the client that consumes.
func (s *session) options() []kgo.Opt {
	return append(slices.Concat(s.set.Kafka, group.Join(Group, s.set.InstanceID)),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// The markers of the router's transactions come with the records: only so is it
		// known that nothing but a marker is left of a partition.
		kgo.KeepControlRecords(),
		// The library's reset goes back one minute; what lies before would be lost.
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchMaxWait(fetchWait(len(s.sub.Topics()))),
		kgo.FetchMaxBytes(fetchMaxBytes),
		kgo.FetchMaxPartitionBytes(fetchMaxPartitionBytes),
		kgo.OnPartitionsAssigned(s.assigned),
		kgo.OnPartitionsRevoked(s.revoked),
		kgo.OnPartitionsLost(s.lost),
		kgo.AdjustFetchOffsetsFn(s.begin),
	)
}

// newProducer returns what writes retries, dead letters and the journal: a client of its own,
// which can be replaced without leaving the group.
func (s *Sink) newProducer() (*work.Producer, error) {
	options := append(slices.Clone(s.set.Kafka), kgo.ProducerLinger(producerLinger))
	if s.journal != nil {
		options = append(options, kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil))))
	}
	return work.NewProducer(options, s.set.Topics.Ensure, s.log)
}

func flowOf(client *kgo.Client) dispatch.Flow {
	only := func(at partition.Place) map[string][]int32 { return map[string][]int32{at.Topic: {at.Num}} }
	return dispatch.Flow{
		PauseTopic:      func(topic string) { client.PauseFetchTopics(topic) },
		ResumeTopic:     func(topic string) { client.ResumeFetchTopics(topic) },
		PausePartition:  func(at partition.Place) { client.PauseFetchPartitions(only(at)) },
		ResumePartition: func(at partition.Place) { client.ResumeFetchPartitions(only(at)) },
	}
}
