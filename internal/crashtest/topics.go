package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// readDeadLetters notes every dead letter; false when the broker does not say.
func readDeadLetters(ctx context.Context, broker string, into *books) bool {
	return readTopic(ctx, broker, schemas.TopicDeadLetters, into) == nil
}

// readTopic notes the message id of every committed record of a topic until
// nothing has come for a second.
func readTopic(ctx context.Context, broker, topic string, into *books) error {
	cl, err := kgo.NewClient(
		kgo.SeedBrokers(broker),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.DisableClientMetrics(),
	)
	if err != nil {
		return err
	}
	defer cl.Close()
	for {
		silence, cancel := context.WithTimeout(ctx, time.Second)
		fetches := cl.PollFetches(silence)
		silent := silence.Err() != nil
		cancel()
		if silent {
			return ctx.Err()
		}
		if err := fetches.Err(); err != nil {
			return err
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if h, err := kafka.HeadersOf(r); err == nil {
				into.note(h.MessageID)
			}
		})
	}
}
