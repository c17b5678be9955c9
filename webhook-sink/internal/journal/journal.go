// Package journal notes how records ended, and writes that down before it is committed.
//
// # Non-obvious
//
//   - A record's end is noted before the dispatcher is told of it, and a commit reads the
//     watermarks before it has the journal written. So what is committed has always been
//     written (TestWhatIsCommittedIsInTheJournal in the sink's package), what a kill takes is
//     delivered again, and what was written and not committed comes twice.
//   - What waits outlives a membership in the group, and a partition: it has happened,
//     whoever has the partition now.
//   - While the journal can't be written nothing is committed, and deliveries go on. What
//     they add is held up to a bound; of what is beyond it the next record says how many
//     there were (TestAJournalThatCannotBeWritten).
package journal

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/schemas"
	format "github.com/anabranch/anabranch/schemas/journal"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

const (
	// mostEntries is how many attempts one record has: some 60 KB.
	mostEntries = 4096
	// MostBytes is how much may wait while the journal can't be written: about a million
	// attempts.
	MostBytes = 16 << 20
	// writeTime bounds one try to write what waits. A commit waits for it.
	writeTime = 2 * time.Second
)

// Options are what a Journal is made of.
type Options struct {
	Logger *slog.Logger
	// Failed is told of each try to write that failed, and Lost of entries that were
	// dropped for want of room.
	Failed func()
	Lost   func()
	Most   int // bytes that may wait; 0: MostBytes
}

// Journal has what is not written yet. It may be used by many goroutines, but for Write.
type Journal struct {
	Options

	failures logging.Sampler[logging.Kind]
	losses   logging.Sampler[logging.Kind]

	mu     sync.Mutex
	prints *journal.Prints
	open   map[source]*chunk // that take entries
	full   []*chunk          // that do not
	free   []*chunk          // to be used again
	bytes  int               // of all but the free ones
}

// source is where entries of one record come from.
type source struct {
	partition.Place
	keyID uint32
}

// chunk is what becomes one record.
type chunk struct {
	source   source
	attempts format.Attempts
	lost     int
	at       int64 // an offset near those that were lost
	bytes    int
}

// New returns a journal in which nothing waits. Fingerprints have to be given before
// anything is noted.
func New(o Options) *Journal {
	if o.Most == 0 {
		o.Most = MostBytes
	}
	return &Journal{Options: o, open: make(map[source]*chunk)}
}

// Name has calls named by these fingerprints from here on. They become the journal's.
func (j *Journal) Name(by *journal.Prints) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.prints == nil || j.prints.KeyID() != by.KeyID() {
		j.prints = by
	}
}

// Named reports whether the journal knows how to name calls.
func (j *Journal) Named() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.prints != nil
}

// Note notes how a record ended.
func (j *Journal) Note(r *kgo.Record, f schedule.Fate, o outcome.Outcome) {
	now := time.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	from := source{partition.Place{Topic: r.Topic, Num: r.Partition}, j.prints.KeyID()}
	c := j.open[from]
	if c == nil {
		c = j.fresh(from)
	}
	if j.bytes >= j.Most {
		c.lost++
		c.at = r.Offset
		j.dropped(now)
		return
	}
	one := entry(r, f, o, now)
	one.Fingerprint = j.prints.Of(r)
	c.attempts.Add(&one)
	bytes := c.attempts.Bytes()
	j.bytes += bytes - c.bytes
	c.bytes = bytes
	if c.attempts.Len() >= mostEntries {
		j.full = append(j.full, c)
		delete(j.open, from)
	}
}

func (j *Journal) fresh(from source) *chunk {
	c := new(chunk)
	if n := len(j.free); n > 0 {
		c, j.free = j.free[n-1], j.free[:n-1]
	}
	c.source = from
	j.open[from] = c
	return c
}

// entry is how a record ended, but for its fingerprint.
func entry(r *kgo.Record, f schedule.Fate, o outcome.Outcome, now time.Time) format.Attempt {
	h := &f.Headers
	one := format.Attempt{
		Offset: r.Offset, Destination: h.Destination, Source: h.Source, Outcome: outcomeOf(f.Ending),
		Reason: h.Reason, Endpoints: o.Asked, Took: o.Took, At: now, Number: h.Attempt, Withheld: h.Withheld, Run: h.Run,
	}
	switch {
	case one.Outcome.Waits():
		one.Until, one.Topic = h.Due, f.Topic
	case one.Outcome == format.Delivered:
		one.Reason = ""
	}
	return one
}

func outcomeOf(e schedule.Ending) format.Outcome {
	switch e {
	case schedule.Delivered:
		return format.Delivered
	case schedule.Retried:
		return format.Retried
	case schedule.Withheld:
		return format.Withheld
	case schedule.Hopped:
		return format.Deferred
	default:
		return format.Dead
	}
}

func (j *Journal) dropped(now time.Time) {
	j.Lost()
	if passed, ok := j.losses.Admit(logging.Kind{}, now); ok {
		j.Logger.Error("the journal can't be written for so long that what becomes of events is not noted any more; deliveries go on",
			"topic", schemas.TopicJournal, "waiting_bytes", j.bytes, "passed_over", passed)
	}
}

// Write writes all that was noted before, and returns when that is acknowledged. What is
// not, waits for the next time; some of it may have been written all the same.
func (j *Journal) Write(ctx context.Context, write func(context.Context, *kgo.Record) error) error {
	all := j.take()
	if len(all) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	errs := make([]error, len(all))
	var writing sync.WaitGroup
	for i, c := range all {
		rec := c.record(time.Now())
		writing.Go(func() { errs[i] = write(ctx, rec) })
	}
	writing.Wait()
	j.settle(all, errs)
	err := errors.Join(errs...)
	if err != nil {
		j.failed(len(all), errs)
	}
	return err
}

// take closes what is open, and returns all that is to be written, oldest first.
func (j *Journal) take() []*chunk {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.open {
		j.full = append(j.full, c)
	}
	clear(j.open)
	all := j.full
	j.full = nil
	return all
}

// settle forgets what was written, and puts the rest before what has come since.
func (j *Journal) settle(all []*chunk, errs []error) {
	const spare = 64
	j.mu.Lock()
	defer j.mu.Unlock()
	var again []*chunk
	for i, c := range all {
		if errs[i] != nil {
			again = append(again, c)
			continue
		}
		j.bytes -= c.bytes
		if len(j.free) < spare {
			c.reset()
			j.free = append(j.free, c)
		}
	}
	j.full = append(again, j.full...)
}

func (c *chunk) reset() {
	c.attempts.Reset()
	c.source, c.lost, c.at, c.bytes = source{}, 0, 0, 0
}

// record is what a chunk says.
func (c *chunk) record(now time.Time) *kgo.Record {
	head := format.Head{
		Stage: "webhook-sink", Topic: c.source.Topic, Partition: c.source.Num,
		KeyID: c.source.keyID, Base: now, Lost: c.lost, From: c.at, Next: c.at,
	}
	if c.attempts.Len() > 0 {
		head.From, head.Next = c.attempts.Range()
	}
	return journal.Record(&head, c.attempts.Append(nil, &head))
}

// failed logs that the journal was not written, seldom: it is tried again each second.
func (j *Journal) failed(records int, errs []error) {
	j.Failed()
	passed, ok := j.failures.Admit(logging.Kind{}, time.Now())
	if !ok {
		return
	}
	for _, err := range errs {
		if err != nil {
			j.Logger.Error("writing the journal failed, nothing is committed until it succeeds; deliveries go on",
				"topic", schemas.TopicJournal, "records", records, "passed_over", passed, "error", err)
			return
		}
	}
}
