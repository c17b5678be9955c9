package journal

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// Record is the record of the topic journal for a head and the value that goes with it.
// Its partition is that of the input, which [Partitioner] understands.
func Record(head *journal.Head, value []byte) *kgo.Record {
	return &kgo.Record{Topic: schemas.TopicJournal, Partition: head.Partition, Key: head.Key(), Value: value}
}

// Partitioner puts records of the journal where the partition of their input belongs, and
// all others where the rest does.
func Partitioner(rest kgo.Partitioner) kgo.Partitioner { return partitioner{rest} }

type partitioner struct{ kgo.Partitioner }

func (p partitioner) ForTopic(topic string) kgo.TopicPartitioner {
	if topic == schemas.TopicJournal {
		return byInput{}
	}
	return p.Partitioner.ForTopic(topic)
}

// byInput goes by the partition that is said in a record.
type byInput struct{}

func (byInput) RequiresConsistency(*kgo.Record) bool { return true }

func (byInput) Partition(r *kgo.Record, n int) int { return int(r.Partition) % n }
