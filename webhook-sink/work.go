package webhooksink

import (
	"context"
	"time"
)

// work works on one job after the other, as many as the dispatcher hands it, and
// ends when there is none: a sink at rest has no workers.
func (s *session) work(ctx context.Context, j *job) {
	for j != nil {
		j = s.dispatcher.done(j, s.handle(ctx, j))
	}
}

// handle takes one job to its end and reports whether it is finished. First
// attempt and retry are the same. It returns false only when ctx, which outlives
// the stop of the sink by the time that an attempt may take, was done.
func (s *session) handle(ctx context.Context, j *job) bool {
	if !j.isRetry() {
		j.read()
	}
	began := time.Now()
	dest, f := s.schedule.judge(j, s.set.Workspace.Load(), began)
	if dest != nil {
		h := j.headers
		h.Destination = dest.ID
		o := s.attempt(ctx, dest, h.Endpoints, j.record.Value)
		f = s.schedule.after(h, o, began, time.Now())
	}
	f, finished := s.settle(ctx, j, f)
	if finished {
		s.account(j, f)
	}
	return finished
}

// account counts and logs how a job ended.
func (s *session) account(j *job, f fate) {
	switch f.ending {
	case endDelivered:
		s.metrics.delivered(j, f, time.Since(j.record.Timestamp))
	case endRetried:
		s.metrics.retried(f)
	case endHopped:
		s.metrics.hops.Inc()
	case endDead:
		s.metrics.died(f)
		s.log.Warn("event given up, it is in dead-letters",
			"destination", f.headers.Destination,
			"reason", string(f.headers.Reason),
			"detail", f.headers.Detail,
			"message_id", f.headers.MessageID,
			"attempts", f.headers.Attempt,
			"topic", j.record.Topic,
			"partition", j.record.Partition,
			"offset", j.record.Offset)
	case endUnfinished:
	}
}
