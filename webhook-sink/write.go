package webhooksink

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/producer"
)

// newProducer returns what writes retries and dead letters: a client of its own,
// which can be replaced without leaving the group.
func (s *Sink) newProducer() (*producer.Producer, error) {
	options := append(slices.Clone(s.set.Kafka), kgo.ProducerLinger(producerLinger))
	return producer.New(options, s.set.Topics.Ensure, s.log)
}
