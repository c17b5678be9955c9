package console

import (
	"context"
	"net/http"
	"time"

	"github.com/anabranch/anabranch/ingest/imports"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/router/replay"
)

func (b *Brokers) replays() *replay.Operator {
	return &replay.Operator{Kafka: b.Kafka, Topics: b.Topics}
}

func (b *Brokers) past(ctx context.Context) (*Past, error) {
	book, err := b.replays().Load(ctx)
	if err != nil {
		return nil, err
	}
	all, err := imports.List(ctx, b.Topics.Client, b.Kafka)
	return &Past{Runs: book.All(), Imports: all}, err
}

// prepare returns the run that a request comes to.
func (b *Brokers) prepare(ctx context.Context, of *ReplayOf) (*replay.Run, error) {
	q := replay.Request{From: of.From, To: of.To, Choice: of.Choice, Rate: of.Rate}
	if one := of.One; one != (EventAt{}) {
		q.From, q.To = one.At.Add(-time.Minute), one.At.Add(time.Minute)
	}
	run, err := b.replays().Prepare(ctx, q, b.Workspace.Load(), time.Now())
	if err != nil || of.One == (EventAt{}) {
		return run, err
	}
	return run, of.One.narrow(run)
}

// narrow leaves one event of a run.
func (at EventAt) narrow(run *replay.Run) error {
	was, known := run.Ranges[at.Partition]
	if !known || at.Offset < was.From || at.Offset >= was.To {
		return &problem{http.StatusConflict, "the event is not in the log any more"}
	}
	for num, o := range run.Ranges {
		run.Ranges[num] = replay.Offsets{From: o.To, To: o.To}
	}
	run.Ranges[at.Partition] = replay.Offsets{From: at.Offset, To: at.Offset + 1}
	run.From, run.To = at.At, at.At.Add(time.Millisecond)
	return nil
}

func (b *Brokers) forecast(ctx context.Context, of ReplayOf, say func(string)) (*replay.Forecast, error) {
	users, err := b.users(ctx)
	if err == nil {
		err = users.Suppressed.Recognised()
	}
	if err != nil {
		return nil, err
	}
	run, err := b.prepare(ctx, &of)
	if err != nil {
		return nil, err
	}
	operator := b.replays()
	operator.Progress = func(done, total int64) {
		say("read " + terminal.Count(done) + " of " + terminal.Count(total) + " events")
	}
	return operator.Plan(ctx, run, b.Workspace.Load(), b.Judge(), users.Suppressed.Has)
}

func (b *Brokers) startReplay(ctx context.Context, of ReplayOf) (string, error) {
	run, err := b.prepare(ctx, &of)
	if err != nil {
		return "", err
	}
	if run.Events() == 0 || len(run.Destinations) == 0 {
		return "", &problem{http.StatusConflict, "there is nothing to send: no events were received in that time, or no enabled destination is connected"}
	}
	return run.ID, b.replays().Write(ctx, run)
}

func (b *Brokers) steerReplay(ctx context.Context, id string, change ReplayChange) error {
	book, err := b.replays().Load(ctx)
	if err != nil {
		return err
	}
	switch e := book.Get(id); {
	case e == nil || e.Run.ID == "":
		return &problem{http.StatusNotFound, "there is no replay with the id " + terminal.Safe(id)}
	case e.Over() || e.Run.Wish == replay.Cancelled:
		return &problem{http.StatusConflict, "replay " + id + " is " + e.State() + ": expected one that is not over"}
	}
	_, err = b.replays().Change(ctx, id, func(r *replay.Run) error {
		if change.Wish != "" {
			r.Wish = change.Wish
		}
		if change.Rate != 0 {
			r.Rate = change.Rate
		}
		return nil
	})
	return err
}
