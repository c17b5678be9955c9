package redrive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Settings are what a run works with.
type Settings struct {
	Log       *deadletters.Log
	Workspace *workspace.Snapshot
	// Suppressed tells the users of whom nothing may be sent any more but that they
	// are to be deleted. Nil: nobody is suppressed.
	Suppressed func(userID []byte) bool

	Out      io.Writer // what was done, at the end
	Err      io.Writer // progress
	Terminal bool      // Err is a terminal: progress stays on its line

	Selection deadletters.Selection
	Rate      int  // events a second, 1 to MaxRate
	DryRun    bool // tell what would be done, and do nothing
	// Again sends also what was redriven before this moment. Zero: nothing twice.
	Again time.Time
}

// run is one redrive.
type run struct {
	Settings
	plan     counts // of the first look
	done     counts
	pace     *waiting.Pace
	writer   *producer
	begun    time.Time
	progress terminal.Progress
}

// Run redrives the selected dead letters that are there when it begins. When ctx
// ends it finishes the batch in hand and returns an error that says how to go on.
func Run(ctx context.Context, set Settings) error {
	r := newRun(set)
	if set.DryRun {
		if _, err := r.look(ctx); err != nil {
			return err
		}
		return r.print(r.plan, "would redrive")
	}
	if err := r.ensure(ctx, schemas.TopicRedriven); err != nil {
		return err
	}
	writer, err := open(ctx, set.Log.Kafka)
	if err != nil {
		return err
	}
	defer writer.Close()
	return r.redrive(ctx, writer)
}

func newRun(set Settings) *run {
	return &run{Settings: set, plan: make(counts), done: make(counts), pace: waiting.NewPace(set.Rate)}
}

// redrive looks at what there is once the writer is the only one that writes, and
// sends it.
func (r *run) redrive(ctx context.Context, writer *producer) error {
	r.writer = writer
	view, err := r.look(ctx)
	if err != nil {
		return err
	}
	if n := len(r.Selection.IDs); n > 0 && r.plan.total(redriven) == r.plan.sum() {
		return fmt.Errorf("nothing to do: %s redriven before; --again sends again", were(n))
	}
	if err = r.ensure(ctx, r.topics()...); err != nil {
		return err
	}
	if flags := r.pinned(); flags != "" {
		_, _ = fmt.Fprintf(r.Err, "if this run is killed, the same command%s continues it\n", flags)
	}
	r.begin(time.Now())
	err = r.send(ctx, view)
	r.progress.Leave()
	if err != nil {
		return r.unfinished(ctx, err)
	}
	return r.print(r.done, "redriven")
}

// look fixes what is there to do and counts it, so that progress has an end.
func (r *run) look(ctx context.Context) (*deadletters.View, error) {
	view, err := deadletters.Open(ctx, r.Log, r.Selection)
	if err != nil {
		return nil, err
	}
	return view, view.Each(ctx, func(l *deadletters.Letter) error {
		v, _, err := r.inspect(ctx, l)
		r.plan.add(l, v)
		return err
	})
}

// inspect decides on a dead letter and returns the record that holds its event.
func (r *run) inspect(ctx context.Context, l *deadletters.Letter) (verdict, *kgo.Record, error) {
	if v := r.judge(l); v != send {
		return v, nil, nil
	}
	event, err := r.Log.Event(ctx, l)
	switch {
	case errors.Is(err, deadletters.ErrGone):
		return gone, nil, nil
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return forbidden, nil, nil // one such event must not keep back the others
	}
	return send, event, err
}

// ensure creates topics that are missing: retention never deletes a topic, but
// people do.
func (r *run) ensure(ctx context.Context, topics ...string) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	return r.Log.Topics.For(r.Workspace.Exports()).Ensure(ctx, topics...)
}

// topics are those that the plan sends to.
func (r *run) topics() []string {
	named := make(map[string]bool)
	for k := range r.plan {
		if k.verdict == send {
			topic, _ := r.target(k.destination)
			named[topic] = true
		}
	}
	return slices.Sorted(maps.Keys(named))
}

// send decides once more, which gives the same answers unless values have gone in
// the meantime, and writes batch after batch.
func (r *run) send(ctx context.Context, view *deadletters.View) error {
	var batch []parcel
	bytes := 0
	err := view.Each(ctx, func(l *deadletters.Letter) error {
		v, event, err := r.inspect(ctx, l)
		if err != nil {
			return err
		}
		if v != send {
			r.done.add(l, v)
			return nil
		}
		topic, arrived := r.target(l.Headers.Destination)
		each, err := pack(l, event, topic, arrived, r.markTime())
		if err != nil {
			return err
		}
		batch, bytes = append(batch, each), bytes+each.size()
		if len(batch) < batchSize(r.Rate) && bytes < maxBatchBytes {
			return nil
		}
		err = r.flush(ctx, batch)
		batch, bytes = nil, 0
		return err
	})
	if err != nil {
		return err
	}
	return r.flush(ctx, batch)
}

// markTime is never before Again, whatever the clock says: a run that goes on
// after this one must not take this one's work for older.
func (r *run) markTime() time.Time {
	now := time.Now()
	if now.Before(r.Again) {
		return r.Again
	}
	return now
}

// flush writes a batch when its time has come.
func (r *run) flush(ctx context.Context, batch []parcel) error {
	if len(batch) == 0 {
		return nil
	}
	if !waiting.Sleep(ctx, r.pace.Wait(time.Now())) {
		return context.Cause(ctx)
	}
	r.pace.Left(len(batch), time.Now())
	err := r.writer.write(ctx, batch, func(each parcel, v verdict) { r.done.add(each.letter, v) })
	if err != nil {
		return err
	}
	r.show(time.Now())
	return nil
}
