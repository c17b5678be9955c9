package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router/replay/internal/archived"
	"github.com/anabranch/anabranch/schemas"
)

// source has the events of a run, each at an offset of one of the run's ranges.
type source interface {
	// open makes sure that what the run was asked for is there. A [lostError] says that it
	// will not be again.
	open(ctx context.Context) error
	// each hands over what spans hold, that of each partition in order.
	each(ctx context.Context, spans []*ranges.Span, do func(*kgo.Record) error) error
	// reader returns one for a destination.
	reader() reader
	// update looks whose data is to be deleted, and deleted reports whether that of the user
	// of an event was to be, later than the event.
	update(ctx context.Context) error
	deleted(rec *kgo.Record) bool
	// prints tell which calls are equal.
	prints() *journal.Prints
}

// reader reads a source for one destination.
type reader interface {
	// part reads about aheadBytes of a partition, as [ranges.Fetch] does.
	part(ctx context.Context, num int32, from int64) (*ranges.Part, error)
	// within reports whether it is better to go on with the same partition.
	within() bool
}

// lostError says why a run can't go on, now or later.
type lostError struct{ why string }

func (e *lostError) Error() string { return e.why }

// shelves are what sources are made of.
type shelves struct {
	kafka     []kgo.Opt
	topics    *topics.Admin
	workspace func() *workspace.Snapshot // with the keys of archives in the clear
}

// source returns that of a run. While is called now and then where a look takes long; its
// error ends the look.
func (s shelves) source(run *Run, while func() error) source {
	if run.Archive != nil {
		return &archiveSource{shelves: s, run: run, while: while, until: make(map[string]time.Time)}
	}
	l := &logSource{shelves: s, run: run, last: make(map[string]int64)}
	next := make(map[int32]int64, len(run.Ranges))
	for num, o := range run.Ranges {
		next[num] = o.From
	}
	l.gone = &deletions{client: s.topics.Client, next: next, found: func(rec *kgo.Record) {
		l.last[string(rec.Key)] = max(l.last[string(rec.Key)], rec.Offset)
	}}
	return l
}

// logSource is the topic raw-events. A user who came back after a deletion is sent what came
// later.
type logSource struct {
	shelves

	run  *Run
	gone *deletions
	last map[string]int64 // offset of the last notification of a deletion, by key
}

func (s *logSource) open(ctx context.Context) error {
	id, err := s.topics.ID(ctx, schemas.TopicRawEvents)
	if err == nil && s.run.TopicID != "" && id != s.run.TopicID {
		err = &lostError{"raw-events was deleted and made again since the replay was asked for"}
	}
	return err
}

func (s *logSource) each(ctx context.Context, spans []*ranges.Span, do func(*kgo.Record) error) error {
	return ranges.Read(ctx, s.kafka, spans, ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error { return do(rec) })
}

func (s *logSource) reader() reader { return s }

func (s *logSource) part(ctx context.Context, num int32, from int64) (*ranges.Part, error) {
	return ranges.Fetch(ctx, s.topics.Client, schemas.TopicRawEvents, num, from, aheadBytes)
}

func (s *logSource) within() bool { return false }

func (s *logSource) update(ctx context.Context) error { return s.gone.update(ctx) }

func (s *logSource) deleted(rec *kgo.Record) bool {
	until, found := s.last[string(rec.Key)]
	return found && rec.Offset < until
}

func (s *logSource) prints() *journal.Prints { return journal.PrintsOf(s.run.TopicID) }

// archiveSource is an archive. Its offsets are those of package archived.
type archiveSource struct {
	shelves

	run   *Run
	while func() error

	log     *archived.Log
	blocked archived.Blocked
	gone    *deletions
	until   map[string]time.Time // when the data of a user was to be deleted last, by key
}

// openArchive opens the archive of a destination, and says whose it is.
func openArchive(ctx context.Context, ws *workspace.Snapshot, id string) (objects.Store, objects.Owner, error) {
	var none objects.Owner
	d, known := ws.Destination(id)
	if !known || !d.Is(workspace.TypeArchive) || d.Archive == nil {
		return nil, none, fmt.Errorf("%w: the workspace has no archive %q", archived.ErrAway, id)
	}
	if d.Sealed() {
		return nil, none, fmt.Errorf("%w: the keys of %s are encrypted, and this process lacks the key: see SECRETS_KEY", archived.ErrAway, id)
	}
	at := objects.PlaceOf(d.Archive)
	store, err := objects.Open(at)
	if err != nil {
		return nil, none, fmt.Errorf("%w: %w", archived.ErrAway, err)
	}
	owner, there, err := objects.OwnerOf(ctx, store)
	if err == nil && !there {
		err = fmt.Errorf("found no %s", objects.ClaimName)
	}
	if err != nil {
		return nil, none, fmt.Errorf("%w: %s: %w", archived.ErrAway, at, err)
	}
	return store, owner, nil
}

// choice says which of the archive's events a run is about.
func (r *Run) choice() archived.Choice {
	return archived.Choice{From: r.From, To: r.To, Source: r.Choice.Source}
}

func (s *archiveSource) open(ctx context.Context) error {
	ws, of := s.workspace(), s.run.Archive
	store, owner, err := openArchive(ctx, ws, of.Destination)
	if err != nil {
		return err
	}
	if owner.ID != s.run.TopicID {
		return &lostError{fmt.Sprintf("the archive %s is that of another topic than when the replay was asked for", of.Destination)}
	}
	if s.log, err = archived.Open(ctx, store, s.run.choice(), of.Ends, time.Now()); err != nil {
		return err
	}
	if s.log.Digest() != of.Digest {
		return &lostError{fmt.Sprintf("the archive %s has other objects of that time than when the replay was asked for: %d, expected %d", of.Destination, s.log.Objects(), of.Objects)}
	}
	s.blocked = ws.BlockedIDs
	return nil
}

func (s *archiveSource) each(ctx context.Context, spans []*ranges.Span, do func(*kgo.Record) error) error {
	for _, span := range spans {
		r := s.log.Reader(span.Partition, span.Next, s.blocked)
		for {
			rec, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil && rec != nil {
				err = do(rec)
			}
			if err != nil {
				return err
			}
		}
		span.Next = span.End
	}
	return nil
}

// update reads the whole archive the first time: deletion requests outlive the log in it
// alone.
func (s *archiveSource) update(ctx context.Context) error {
	if s.gone == nil {
		starts, err := ranges.List(ctx, s.topics.Client, schemas.TopicRawEvents, s.run.From)
		if err != nil {
			return err
		}
		next := make(map[int32]int64, len(starts))
		for num, r := range starts {
			next[num] = r.Start
		}
		if err = s.log.Deletions(ctx, s.blocked, s.while, s.forget); err != nil {
			return err
		}
		s.gone = &deletions{client: s.topics.Client, next: next, found: func(rec *kgo.Record) { s.forget(rec.Key, rec.Timestamp) }}
	}
	return s.gone.update(ctx)
}

func (s *archiveSource) forget(user []byte, at time.Time) {
	if at.After(s.until[string(user)]) {
		s.until[string(user)] = at
	}
}

func (s *archiveSource) deleted(rec *kgo.Record) bool {
	until, found := s.until[string(rec.Key)]
	return found && !rec.Timestamp.After(until)
}

func (s *archiveSource) prints() *journal.Prints { return journal.PrintsOf(s.run.TopicID) }

func (s *archiveSource) reader() reader {
	return &archiveReader{source: s, parts: make(map[int32]*archived.Reader)}
}

// archiveReader holds one object at a time: the next partition's turn comes at its end.
type archiveReader struct {
	source *archiveSource
	parts  map[int32]*archived.Reader
	last   *archived.Reader
}

// mostPassed is how many lines are looked at for one part: most of them may be of another
// time.
const mostPassed = 20_000

func (a *archiveReader) part(ctx context.Context, num int32, from int64) (*ranges.Part, error) {
	r := a.parts[num]
	if r == nil || r.Offset() != from {
		r = a.source.log.Reader(num, from, a.source.blocked)
		a.parts[num] = r
	}
	a.last = r
	part, size := new(ranges.Part), 0
	for passed := 0; passed < mostPassed && size < aheadBytes; passed++ {
		rec, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			delete(a.parts, num) // it is in the midst of what failed
			a.last = nil
			return nil, err
		}
		if rec != nil {
			part.Records, size = append(part.Records, rec), size+len(rec.Value)
		}
		if !r.Within() && r.Offset() > from {
			break
		}
	}
	part.Next = r.Offset()
	return part, nil
}

func (a *archiveReader) within() bool { return a.last != nil && a.last.Within() }
