// Package reread reads parts of partitions a second time, for keys that are set aside.
package reread

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
)

const (
	// partBytes is how much of a partition is read once more at a time, as the brokers
	// store it, and atOnce for how many partitions at once: all of it is in memory
	// until the few records are copied that are wanted of it.
	partBytes = 256 << 10
	atOnce    = 2

	// pause is between two tries, and readTime bounds one.
	pause    = time.Second
	readTime = 10 * time.Second
)

// Options are what a Reader is made of.
type Options struct {
	Client *kgo.Client // that of look-ups: it is no member of the group
	// Bring takes what was found, and returns the next part to read; see
	// dispatch.Dispatcher.
	Bring  func(r *dispatch.Reread, records []*kgo.Record, next int64) *dispatch.Reread
	Lost   func() // events were deleted before they were read
	Logger *slog.Logger
}

// Reader reads parts of partitions. It may be used by many goroutines.
type Reader struct {
	Options

	reading  chan struct{} // has an item for each part that is being read
	failures logging.Sampler[logging.Kind]
}

// New returns a Reader.
func New(o Options) *Reader { return &Reader{Options: o, reading: make(chan struct{}, atOnce)} }

// Read reads one part of a partition after the other, until nothing is wanted of it for
// now.
func (s *Reader) Read(ctx context.Context, r *dispatch.Reread) {
	for r != nil && ctx.Err() == nil {
		part, err := s.part(ctx, r)
		switch {
		case err != nil:
			s.failed(ctx, r, err)
			part = &ranges.Part{Next: r.From}
		case part.Deleted:
			s.Lost()
			s.Logger.Error("events lost: retention deleted events of a busy user before their first attempt",
				"topic", r.Topic, "partition", r.Num, "from", r.From, "to", part.Next)
		}
		if part.Next <= r.From && !waiting.Sleep(ctx, pause) {
			return
		}
		r = s.Bring(r, part.Records, part.Next)
	}
}

func (s *Reader) part(ctx context.Context, r *dispatch.Reread) (*ranges.Part, error) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	return ranges.Fetch(ctx, s.Client, r.Topic, r.Num, r.From, partBytes)
}

// failed logs a failure, at most one in [logging.Every]: while no broker answers
// every partition has one, again and again.
func (s *Reader) failed(ctx context.Context, r *dispatch.Reread, err error) {
	if ctx.Err() != nil {
		return
	}
	if passed, ok := s.failures.Admit(logging.Kind{}, time.Now()); ok {
		s.Logger.Warn("reading a busy user's earlier events failed, retrying", "topic", r.Topic, "partition", r.Num, "passed_over", passed, "error", err)
	}
}
