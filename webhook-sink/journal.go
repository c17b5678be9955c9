package webhooksink

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/waiting"
)

// printsEvery is how often it is looked whether raw-events was made anew: calls are named
// otherwise then.
const printsEvery = time.Minute

// findPrints has the journal name calls as the router does. One that knew it once goes on
// with that: no delivery is to wait for a topic that the sink does not read.
func (s *Sink) findPrints(ctx context.Context) error {
	prints, err := journal.FindPrints(ctx, s.set.Topics)
	switch {
	case err == nil:
		s.journal.Name(prints)
	case s.journal.Named():
		s.log.Debug("looking for the id of raw-events failed, naming calls in the journal as before", "error", err)
	default:
		return err
	}
	return nil
}

// followPrints looks again, until ctx ends.
func (s *session) followPrints(ctx context.Context) {
	for waiting.Sleep(ctx, printsEvery) {
		_ = s.findPrints(ctx) // it was named before
	}
}

// writeJournal is what a commit waits for; nil: nothing.
func (s *session) writeJournal() func(context.Context) error {
	if s.journal == nil {
		return nil
	}
	return func(ctx context.Context) error { return s.journal.Write(ctx, s.producer.Write) }
}
