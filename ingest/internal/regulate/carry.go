package regulate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/regulation"
)

const (
	// takeTimeout bounds the taking of a regulation, which fences its predecessor and
	// so ends the transaction that may have been left open.
	takeTimeout = 10 * time.Second

	// stepTimeout bounds a step, also after the stage is told to stop: the process
	// is cut off eight seconds after that.
	stepTimeout = 5 * time.Second
)

// carryOut takes a regulation and brings it to its end, or as far as it gets
// before ctx ends.
func (s *Service) carryOut(ctx context.Context, id string) error {
	run, err := s.take(ctx, id)
	if run == nil || err != nil {
		return err
	}
	defer run.Close()
	e := errand{run: run, sources: affected(s.set.Workspace.Load()), most: stepEvents}
	for ctx.Err() == nil && !run.Work().Status.Final() {
		if err := s.advance(ctx, &e); err != nil {
			return err
		}
	}
	s.report(run.Work())
	return nil
}

func (s *Service) take(ctx context.Context, id string) (*regulation.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	return s.set.Ledger.Take(ctx, id, s.set.Register)
}

// errand is a regulation in this process's hands.
type errand struct {
	run     *regulation.Run
	sources []string
	most    int // events of a step
}

// advance makes one step, or a smaller one possible. A transaction that is cut short
// is one of unknown outcome, so the end of ctx does not reach it.
func (s *Service) advance(ctx context.Context, e *errand) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	work := e.run.Work()
	if !work.Complete {
		return e.run.Advance(ctx, work.End(regulation.Failed, "records with its user ids are missing from the topic regulations", time.Now()))
	}
	next, events := step(work.Regulation, work.Users, e.sources, e.most, time.Now())
	err := e.run.Advance(ctx, next, batches(events, e.most)...)
	switch {
	case err == nil:
		s.metrics.notifications.Add(float64(len(events)))
	case !kafka.TooLarge(err):
	case e.most > 1:
		// A batch is refused whole, so this may be about the batch, or about another
		// user's notification: only what is refused alone is too large.
		e.most = max(min(e.most, len(events))/2, 1)
		s.log.Warn("raw-events refused deletion notifications as too large, writing fewer at a time", "regulation", work.ID, "events", len(events), "error", err)
		return nil
	default:
		s.log.Error("deletion notification refused as too large", "regulation", work.ID, "error", err)
		return e.run.Advance(ctx, work.End(regulation.Failed, tooLarge(&work.Regulation), time.Now()))
	}
	return err
}

// batches divides the events of a step into what may travel together. The smallest
// step is one user's, who has an event for each source: each of them travels alone.
func batches(events []*kgo.Record, most int) [][]*kgo.Record {
	if most > 1 {
		return [][]*kgo.Record{events}
	}
	return slices.Collect(slices.Chunk(events, 1))
}

func tooLarge(r *regulation.Regulation) string {
	return fmt.Sprintf("the topic raw-events refused a notification as too large; the users before number %d were notified", r.Notified+1)
}

// report says what has become of a regulation.
func (s *Service) report(work regulation.Work) {
	level := s.log.Info
	switch work.Status {
	case regulation.Finished:
		s.metrics.finished.Inc()
	case regulation.Failed:
		s.metrics.failed.Inc()
		level = s.log.Error
	case regulation.Initialized, regulation.Running:
		level("regulation continues at the next start, or in another process", "regulation", work.ID, "notified", work.Notified, "users", work.Subjects)
		return
	}
	level("regulation ended", "regulation", work.ID, "type", string(work.Type), "status", string(work.Status),
		"users", work.Subjects, "notified", work.Notified, "sources", len(work.Sources), "reason", work.Reason)
}

func (s *Service) complain(id string, err error) {
	if errors.Is(err, regulation.ErrTakenOver) {
		s.log.Info("regulation is being carried out by another process", "regulation", id)
		return
	}
	s.metrics.attempts.Inc()
	s.log.Warn("regulation not carried out yet, retrying", "regulation", id, "error", err)
}
