package hanging

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// WasCommitted reports whether the transaction in which a record was written has been
// committed, as readers of its partition are told. It waits for the transaction's
// end there until ctx ends. The options are those that every client shares.
func WasCommitted(ctx context.Context, opts []kgo.Opt, rec *kgo.Record) (bool, error) {
	cl, err := kgo.NewClient(append(append([]kgo.Opt{}, opts...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{rec.Topic: {rec.Partition: kgo.NewOffset().At(rec.Offset)}}),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Where all from there on was aborted, the marker that says so is what comes.
		kgo.KeepControlRecords())...)
	if err != nil {
		return false, fmt.Errorf("read %s[%d]@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	defer cl.Close()
	for {
		fetches := cl.PollRecords(ctx, 1)
		if ctx.Err() != nil {
			return false, fmt.Errorf("wait for the end of a transaction at %s[%d]@%d: %w", rec.Topic, rec.Partition, rec.Offset, errors.Join(context.Cause(ctx), fetches.Err()))
		}
		if err := refused(fetches); err != nil {
			return false, fmt.Errorf("read %s[%d]@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
		}
		for _, first := range fetches.Records() {
			return first.Offset == rec.Offset, nil
		}
	}
}

// refused returns an error that trying again does not mend: to write to a topic is not
// to be allowed to read it.
func refused(fetches kgo.Fetches) (refusal error) {
	fetches.EachError(func(_ string, _ int32, err error) {
		if errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.UnknownTopicID) {
			refusal = err
		}
	})
	return refusal
}
