// Package dltest writes dead letters for tests.
package dltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
)

// Partitions is how many partitions dead-letters has.
const Partitions = 2

// Yard is a cluster with dead letters.
type Yard struct {
	*deadletters.Log

	cl *kgo.Client
}

// New returns a yard on a cluster, without any topic yet. The client is the
// caller's to close.
func New(tb testing.TB, cl *kgo.Client, opts []kgo.Opt) *Yard {
	tb.Helper()
	config := policy.Config{Partitions: Partitions, DeliverPartitions: 3, Replication: -1, RawRetention: 48 * time.Hour}
	return &Yard{Log: &deadletters.Log{Kafka: opts, Topics: topics.New(cl, config)}, cl: cl}
}

// Ensure creates topics.
func (y *Yard) Ensure(tb testing.TB, topics ...string) {
	tb.Helper()
	if err := y.Topics.Ensure(tb.Context(), topics...); err != nil {
		tb.Fatal(err)
	}
}

// Headers are those of the i-th event that died at a destination.
func Headers(i int, destination string, reason schemas.Reason) schemas.Headers {
	return schemas.Headers{
		Source: "website", Type: schemas.TypeTrack, MessageID: fmt.Sprintf("m%d", i), Origin: schemas.OriginAPI,
		Destination: destination, Attempt: 1, FirstAttempt: time.Now(), Reason: reason, Detail: "answered 400",
		Answer: []byte("no such plan:\n\x1b[31mgold"),
	}
}

// Die writes the dead letter of an event and returns where it stands.
func (y *Yard) Die(tb testing.TB, h schemas.Headers) deadletters.ID {
	tb.Helper()
	y.Ensure(tb, schemas.TopicDeadLetters)
	return y.Bury(tb, kafka.DeadLetter(Event(h), h, time.Now()))
}

// Event is the record that died: the first of six users, in turn, by the number in
// its messageId.
func Event(h schemas.Headers) *kgo.Record {
	var n int
	_, _ = fmt.Sscanf(h.MessageID, "m%d", &n)
	return &kgo.Record{
		Topic: schemas.DeliverTopic("crm"), Key: fmt.Appendf(nil, "user%d", n%6),
		Value: fmt.Appendf(nil, `{"event":"Signed Up","messageId":%q}`, h.MessageID),
	}
}

// Bury writes a record to its topic and returns where it stands.
func (y *Yard) Bury(tb testing.TB, records ...*kgo.Record) deadletters.ID {
	tb.Helper()
	if err := y.cl.ProduceSync(tb.Context(), records...).FirstErr(); err != nil {
		tb.Fatal(err)
	}
	last := records[len(records)-1]
	return deadletters.ID{Partition: last.Partition, Offset: last.Offset}
}
