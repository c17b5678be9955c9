package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
)

// entries are what the journal says of a range: each of its events was delivered. Nil where
// no journal is written.
//
// They are written when the objects are stored, before that is committed: what a kill takes
// in between is stored and written once more, which readers of the journal know of one record.
type entries struct {
	prints *journal.Prints
	head   format.Head
	chunks []*format.Attempts
}

// mostEntries is how many one record has: some 60 KB.
const mostEntries = 4096

// entriesOf begins those of a range.
func (s *session) entriesOf(p *part, mark cut.Mark) (*entries, error) {
	if s.writer == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	ctx, cancel := context.WithTimeout(p.ctx, requestTime)
	defer cancel()
	prints, err := journal.FindPrints(ctx, s.set.Topics)
	if err != nil {
		return nil, err
	}
	return &entries{prints: prints, head: format.Head{
		Stage: "archive", Topic: p.Topic, Partition: p.Num, From: mark.From, Next: mark.To, KeyID: prints.KeyID(), Base: time.Now(),
	}}, nil
}

// add notes an event of the range.
func (e *entries) add(r *kgo.Record, destination string) {
	if e == nil {
		return
	}
	if n := len(e.chunks); n == 0 || e.chunks[n-1].Len() == mostEntries {
		e.chunks = append(e.chunks, new(format.Attempts))
	}
	h, _ := kafka.HeadersOf(r) // of what can't be read there is no source
	e.chunks[len(e.chunks)-1].Add(&format.Attempt{
		Offset: r.Offset, Fingerprint: e.prints.Of(r), Destination: destination, Source: h.Source,
		Outcome: format.Delivered, At: e.head.Base, Number: 1,
	})
}

// journalTime bounds one try to write the journal of a range.
const journalTime = 10 * time.Second

// write writes the entries, and returns when that is acknowledged.
func (s *session) write(ctx context.Context, e *entries) error {
	if e == nil || len(e.chunks) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, journalTime)
	defer cancel()
	client := s.writer.Client()
	acknowledged := make(chan error, len(e.chunks))
	for _, c := range e.chunks {
		client.Produce(ctx, journal.Record(&e.head, c.Append(nil, &e.head)), func(_ *kgo.Record, err error) { acknowledged <- err })
	}
	for range e.chunks {
		select {
		case err := <-acknowledged:
			if err != nil {
				return s.mend(ctx, client, err)
			}
		case <-ctx.Done(): // the library does not honour it for what may be in flight
			return fmt.Errorf("write the journal: %w", context.Cause(ctx))
		}
	}
	return nil
}

// mend makes what it can of a failed write, whose error it returns: a client never adopts a
// topic that was made again.
func (s *session) mend(ctx context.Context, client *kgo.Client, err error) error {
	var failed error
	switch {
	case errors.Is(err, kerr.UnknownTopicID):
		failed = s.writer.Replace(client) //nolint:contextcheck // the old client outlives the write
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		failed = s.set.Topics.Ensure(ctx, schemas.TopicJournal)
	}
	return errors.Join(fmt.Errorf("write the journal: %w", err), failed)
}

func newWriter(options []kgo.Opt) (*kafka.Replaceable, error) {
	by := kgo.RecordPartitioner(journal.Partitioner(kgo.StickyKeyPartitioner(nil)))
	// Who waits for a record that is given up is told by its promise.
	return kafka.NewReplaceable(append(slices.Clone(options), by), func(error) {})
}
