package load

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
)

// ReadTopic calls seen with the stamp of every committed record of a topic, until
// nothing has come for a second. Records that the bench did not make are passed
// over.
func ReadTopic(ctx context.Context, opts []kgo.Opt, topic string, seen func(books.Stamp)) error {
	return ReadHeaders(ctx, opts, topic, func(h schemas.Headers) {
		if s, err := books.ParseStamp(h.MessageID); err == nil {
			seen(s)
		}
	})
}

// ReadHeaders is ReadTopic for what can be read of the headers of any record.
func ReadHeaders(ctx context.Context, opts []kgo.Opt, topic string, seen func(schemas.Headers)) error {
	return ReadRecords(ctx, opts, topic, func(r *kgo.Record) {
		h, _ := kafka.HeadersOf(r) // of a dead letter some may be what it died of
		seen(h)
	})
}

// ReadRecords is ReadTopic for any record as it is.
func ReadRecords(ctx context.Context, opts []kgo.Opt, topic string, seen func(*kgo.Record)) error {
	cl, err := kgo.NewClient(slices.Concat(opts, []kgo.Opt{kgo.ConsumeTopics(topic), kgo.FetchIsolationLevel(kgo.ReadCommitted())})...)
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
		fetches.EachRecord(seen)
	}
}
