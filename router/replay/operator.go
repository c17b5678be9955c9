package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/journal"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/router/replay/internal/archived"
	"github.com/anabranch/anabranch/schemas"
)

// Operator asks for runs, and changes what is wanted of them.
type Operator struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
	// Progress is told, now and then, how many events of how many a plan has read; nil: nobody
	// wants to know.
	Progress func(done, total int64)
}

// Resolve returns a run of what was received from one time to another, a zero time for the
// first and the last that there is. It has all but a choice, destinations and a rate.
func (o *Operator) Resolve(ctx context.Context, from, to, now time.Time) (*Run, error) {
	id, err := o.Topics.ID(ctx, schemas.TopicRawEvents)
	if err != nil {
		return nil, err
	}
	all, err := ranges.List(ctx, o.Topics.Client, schemas.TopicRawEvents, from)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("topic %s is not there: expected a pipeline that has run", schemas.TopicRawEvents)
	}
	ends := make(map[int32]int64, len(all))
	for num, r := range all {
		ends[num] = r.End
	}
	run := newRun(from, to, now)
	run.TopicID = id
	if run.To.Before(now.Truncate(time.Millisecond)) {
		behind, err := ranges.List(ctx, o.Topics.Client, schemas.TopicRawEvents, to)
		if err != nil {
			return nil, err
		}
		for num, r := range behind {
			ends[num] = r.Start
		}
	}
	for num, r := range all {
		run.Ranges[num] = Offsets{From: r.Start, To: max(r.Start, ends[num])}
	}
	return run, nil
}

// newRun is a run of what was received from one time to another, to now at the latest.
func newRun(from, to, now time.Time) *Run {
	if to.IsZero() || to.After(now) {
		to = now
	}
	return &Run{
		ID: NewID(now), Wish: Running, From: from.UTC(), To: to.UTC().Truncate(time.Millisecond), Ranges: make(map[int32]Offsets),
		CreatedAt: now.UTC().Truncate(time.Millisecond),
	}
}

// Write stores what is wanted of a run.
func (o *Operator) Write(ctx context.Context, r *Run) error {
	r.ChangedAt = time.Now().UTC().Truncate(time.Millisecond)
	rec, err := record(r, kindRun, r.ID)
	if err != nil {
		return err
	}
	return o.write(ctx, rec)
}

func (o *Operator) write(ctx context.Context, all ...*kgo.Record) error {
	if err := o.Topics.Ensure(ctx, schemas.TopicReplays); err != nil {
		return err
	}
	cl, err := kgo.NewClient(append(slices.Clip(o.Kafka), kgo.RecordPartitioner(partitioner{kgo.StickyKeyPartitioner(nil)}))...)
	if err != nil {
		return fmt.Errorf("open a writer of %s: %w", schemas.TopicReplays, err)
	}
	defer cl.Close()
	if err := cl.ProduceSync(ctx, all...).FirstErr(); err != nil {
		return fmt.Errorf("write to %s: %w", schemas.TopicReplays, err)
	}
	return nil
}

// Change has something else wanted of a run that is not over. It returns the run as it was
// before.
func (o *Operator) Change(ctx context.Context, id string, change func(*Run) error) (*Entry, error) {
	book, err := o.Load(ctx)
	if err != nil {
		return nil, err
	}
	e := book.Get(id)
	if e == nil || e.Run.ID == "" {
		return nil, unknownRun(id)
	}
	if over := e.Over(); over || e.Run.Wish == Cancelled {
		return nil, fmt.Errorf("replay %s is %s: expected one that is not over", id, e.State())
	}
	run := e.Run
	if err := change(&run); err != nil {
		return nil, err
	}
	return e, o.Write(ctx, &run)
}

func unknownRun(id string) error {
	return fmt.Errorf("no replay %q: `anabranch replay list` shows all of them", id)
}

// Load reads what the topic says of all runs.
func (o *Operator) Load(ctx context.Context) (*Book, error) {
	w := o.watch()
	return w.book, w.update(ctx)
}

// watch is a book that is kept up to date by looking again and again.
func (o *Operator) watch() *watcher {
	return &watcher{operator: o, book: NewBook(), at: make(map[int32]int64)}
}

type watcher struct {
	operator *Operator
	book     *Book
	at       map[int32]int64
}

// update reads what was written since. What it can't read is an error: a part that is passed
// over would look as if nothing were sent.
func (w *watcher) update(ctx context.Context) error {
	all, err := ranges.List(ctx, w.operator.Topics.Client, schemas.TopicReplays, time.Time{})
	if err != nil {
		return err
	}
	for num, r := range all {
		all[num] = ranges.Range{Start: max(r.Start, w.at[num]), End: r.End}
		w.at[num] = r.End
	}
	return ranges.Read(ctx, w.operator.Kafka, ranges.Spans(schemas.TopicReplays, all), ranges.Limits{Patience: patience}, func(_ *ranges.Span, rec *kgo.Record) error {
		return w.book.Add(rec)
	})
}

// Watch shows a run whenever something has changed, until it is over, or show says so.
func (o *Operator) Watch(ctx context.Context, id string, every time.Duration, show func(*Entry) (enough bool)) error {
	w := o.watch()
	for {
		if err := w.update(ctx); err != nil {
			return err
		}
		e := w.book.Get(id)
		if e == nil || e.Run.ID == "" {
			return unknownRun(id)
		}
		if show(e) || e.Over() {
			return nil
		}
		if !waiting.Sleep(ctx, every) {
			return context.Cause(ctx)
		}
	}
}

// Request is what a person asks to be replayed.
type Request struct {
	From, To time.Time // receipt; zero: from the first event, up to now
	Choice   Choice
	Rate     int // events a second to each destination
	// Archive is the id of the archive whose events are sent; empty: those of raw-events.
	Archive string
}

// resolve returns the run with where its events are.
func (o *Operator) resolve(ctx context.Context, q *Request, ws *workspace.Snapshot, now time.Time) (*Run, error) {
	switch {
	case q.Archive == "":
		return o.Resolve(ctx, q.From, q.To, now)
	case q.Choice.Missing:
		return nil, fmt.Errorf("--only=missing --from-archive=%s: the journal says what became of events of the log, not of those in an archive", q.Archive)
	case q.Choice.Source == workspace.SourcePersonas:
		return nil, fmt.Errorf("--source=%s --from-archive=%s: an archive does not say which destinations were told of an audience or a trait", q.Choice.Source, q.Archive)
	}
	d, known := ws.Destination(q.Archive)
	if !known || d.Archive == nil || !d.Is(workspace.TypeArchive) {
		return nil, fmt.Errorf("--from-archive=%s: expected the id of a destination of type %s", q.Archive, workspace.TypeArchive)
	}
	store, owner, err := openArchive(ctx, ws, q.Archive)
	if err != nil {
		return nil, fmt.Errorf("--from-archive=%s: %w", q.Archive, err)
	}
	run := newRun(q.From, q.To, now)
	run.Choice, run.TopicID, run.Version = q.Choice, owner.ID, archivedVersion
	log, err := archived.Open(ctx, store, run.choice(), nil, now)
	if err != nil {
		return nil, fmt.Errorf("--from-archive=%s: %w", q.Archive, err)
	}
	run.Archive = &Archive{q.Archive, objects.PlaceOf(d.Archive).String(), log.Objects(), log.Digest(), log.Ends()}
	for num, n := range log.Offsets() {
		run.Ranges[num] = Offsets{To: n}
	}
	return run, nil
}

// Prepare returns the run that a request comes to, in the workspace of today. Nothing is
// written yet. A run without destinations has nothing to do.
func (o *Operator) Prepare(ctx context.Context, q Request, ws *workspace.Snapshot, now time.Time) (*Run, error) {
	if err := q.Choice.Validate(); err != nil {
		return nil, err
	}
	if !q.To.IsZero() && !q.From.Before(q.To) {
		return nil, fmt.Errorf("--from=%s --to=%s: expected a time that begins before it ends", q.From.Format(time.RFC3339), q.To.Format(time.RFC3339))
	}
	destinations, err := meant(&q.Choice, ws)
	if err != nil {
		return nil, err
	}
	run, err := o.resolve(ctx, &q, ws, now)
	if err != nil {
		return nil, err
	}
	run.Choice, run.Destinations, run.Rate = q.Choice, destinations, q.Rate
	if !q.Choice.Missing || run.Events() == 0 {
		return run, nil
	}
	spans, err := journal.Spans(ctx, o.Topics.Client, run.From, time.Time{})
	if err == nil && !slices.ContainsFunc(spans, func(s *ranges.Span) bool { return !s.Done() }) {
		err = errors.New("--only missing: the journal says nothing of that time, so it is not known what was sent then: expected JOURNAL=on, and a time that is not past JOURNAL_RETENTION")
	}
	return run, err
}

// meant are the destinations that a choice is about: those with endpoints that are enabled
// and get calls. Nobody empties the lane of an archive or a topic.
func meant(c *Choice, ws *workspace.Snapshot) ([]string, error) {
	if _, known := ws.Source(c.Source); c.Source != "" && !known {
		return nil, fmt.Errorf("--source=%s: the workspace has no such source", c.Source)
	}
	if d, known := ws.Destination(c.Destination); c.Destination != "" && (!known || !d.Enabled) {
		return nil, fmt.Errorf("--destination=%s: the workspace has no such destination, or it is not enabled", c.Destination)
	}
	if d, known := ws.Destination(c.Destination); known && !d.Is(workspace.TypeWebhooks) {
		return nil, fmt.Errorf("--destination=%s: it is of type %s: expected one with webhooks, which alone can be sent past events", c.Destination, d.Type)
	}
	all := []string{}
	for _, d := range ws.DestinationsOf(workspace.TypeWebhooks) {
		if d.Enabled && (c.Destination == "" || c.Destination == d.ID) && (c.Source == "" || d.Connected(c.Source)) {
			all = append(all, d.ID)
		}
	}
	return all, nil
}

// Plan says what a run would do. Suppressed tells the users of whom nothing is sent.
func (o *Operator) Plan(ctx context.Context, run *Run, ws *workspace.Snapshot, judge Judge, suppressed func(userID []byte) bool) (*Forecast, error) {
	p := planner{progress: o.Progress, run: run, terms: terms{judge: judge, workspace: ws, suppressed: suppressed, today: run.CreatedAt}}
	f, err := p.plan(ctx, o.source(run, ws), o.Kafka, o.Topics.Client)
	if err != nil || run.Archive != nil {
		return f, err
	}
	all, err := ranges.List(ctx, o.Topics.Client, schemas.TopicRawEvents, time.Time{})
	f.Cut = run.cut(all)
	return f, err
}

// source has the events of a run.
func (o *Operator) source(run *Run, ws *workspace.Snapshot) source {
	return shelves{o.Kafka, o.Topics, func() *workspace.Snapshot { return ws }}.source(run, func() error { return nil })
}
