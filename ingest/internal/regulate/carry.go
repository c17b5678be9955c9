package regulate

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	sources := affected(s.set.Workspace.Load())
	for ctx.Err() == nil && !run.Work().Status.Final() {
		if err := s.advance(ctx, run, sources); err != nil {
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

// advance makes one step. A transaction that is cut short is one of unknown
// outcome, so the end of ctx does not reach it.
func (s *Service) advance(ctx context.Context, run *regulation.Run, sources []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stepTimeout)
	defer cancel()
	work := run.Work()
	if !work.Complete {
		return run.Advance(ctx, work.End(regulation.Failed, "records with its user ids are missing from the topic workspace", time.Now()), nil)
	}
	next, events := step(work.Regulation, work.Users, sources, time.Now())
	err := run.Advance(ctx, next, events)
	if errors.Is(err, regulation.ErrTooLarge) {
		s.log.Error("deletion notification refused as too large", "regulation", work.ID, "error", err)
		return run.Advance(ctx, work.End(regulation.Failed, tooLarge(&work.Regulation), time.Now()), nil)
	}
	if err == nil {
		s.metrics.notifications.Add(float64(len(events)))
	}
	return err
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
		level("regulation goes on at the next start, or in another process", "regulation", work.ID, "notified", work.Notified, "users", work.Subjects)
		return
	}
	level("regulation ended", "regulation", work.ID, "type", string(work.Type), "status", string(work.Status),
		"users", work.Subjects, "notified", work.Notified, "sources", len(work.Sources), "reason", work.Reason)
}

func (s *Service) complain(id string, err error) {
	if errors.Is(err, regulation.ErrTakenOver) {
		s.log.Info("regulation is carried out by another process", "regulation", id)
		return
	}
	s.metrics.attempts.Inc()
	s.log.Warn("regulation not carried out yet, trying again", "regulation", id, "error", err)
}
