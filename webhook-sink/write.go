package webhooksink

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// write produces one record and waits for its acknowledgement.
//
// It waits beside the library, which does not let go of a record that may be in
// flight when the context ends: it would have to forget the sequence number.
func (s *session) write(ctx context.Context, r *kgo.Record) error {
	acknowledged := make(chan error, 1)
	once := *r // the library writes into what it is given, and may still do so when we try again
	s.client.Produce(ctx, &once, func(_ *kgo.Record, err error) { acknowledged <- err })
	select {
	case err := <-acknowledged:
		s.mend(ctx, r.Topic, err)
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mend does what a failed write calls for before it is tried again.
func (s *session) mend(ctx context.Context, topic string, err error) {
	switch {
	case errors.Is(err, kerr.UnknownTopicID):
		// Deleted and made anew: the client holds on to the old id until it is told
		// to forget the topic.
		s.client.PurgeTopicsFromProducing(topic)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		if err := s.set.Topics.Ensure(ctx, topic); err != nil {
			s.log.Warn("a topic is missing and could not be created", "topic", topic, "error", err)
		}
	}
}
