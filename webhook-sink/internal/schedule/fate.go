package schedule

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// Ending is what becomes of a record.
type Ending uint8

// The endings, a closed set.
const (
	Delivered  Ending = iota + 1
	Retried           // attempted, failed, and waits on a retry topic
	Withheld          // not attempted since its endpoints are down, and waits on a retry topic
	Hopped            // not attempted for want of a slot or of time, or since its destination is paused, and waits on a retry topic once more
	Dead              // goes to dead-letters
	Unfinished        // cut short by our own shutdown: nothing becomes of it here
)

// Fate is an ending and what is written for it. Deciding it has no effects.
type Fate struct {
	Ending  Ending
	Topic   string          // of a retry record
	Headers schemas.Headers // of what is written
}

// Case is a record whose fate is to be decided.
type Case struct {
	Headers schemas.Headers // with the destination that its topic names, if that does
	Err     error           // the headers can't be read
	Slot    bool            // it holds one of its destination's slots
	// Reserved is the slot in the future that it was given when it was due and
	// there was none; zero if it was not.
	Reserved time.Time
}

// Judge decides the fate of a record that is not to be attempted, or returns the
// destination to attempt it at. Each attempt goes by the workspace of its own
// moment: endpoints, secrets and headers may have changed since the last one, and
// the destination may be gone or switched off.
func (s *Schedule) Judge(c Case, ws *workspace.Snapshot, now time.Time) (*workspace.Destination, Fate) {
	h := c.Headers
	dest, known := ws.Destination(h.Destination)
	pause, paused := ws.Paused(h.Destination)
	switch {
	case c.Err != nil:
		return nil, deadFor(h, kafka.ReasonOf(c.Err), c.Err.Error())
	case h.Destination == "":
		return nil, deadFor(h, schemas.ReasonRecordInvalid, "header destination is missing")
	case known && !dest.Is(workspace.TypeWebhooks):
		return nil, deadFor(h, schemas.ReasonDestinationRemoved, "destination has no webhooks any more, its type is "+dest.Type)
	case !known:
		return nil, s.unknown(h, now)
	case paused && !h.FirstAttempt.IsZero() && !h.Due.After(now):
		return nil, s.putBack(h, pause.Since, now)
	case !dest.Enabled:
		return nil, deadFor(h, schemas.ReasonDestinationDisabled, "destination is switched off")
	case !h.FirstAttempt.IsZero() && now.After(s.end(began(&h))):
		return nil, s.exceeded(h)
	case h.Due.After(now):
		return nil, hoppedTo(h, s.onward(now, h.Due))
	case !c.Slot:
		return nil, s.reserved(h, c.Reserved, now)
	}
	return dest, Fate{}
}

// began is when the window of an event began, put off by the time that it was put back for
// since its destination was paused: that is nobody's failure. Zero: it has not begun.
func began(h *schemas.Headers) time.Time {
	if h.FirstAttempt.IsZero() {
		return h.FirstAttempt
	}
	return h.FirstAttempt.Add(h.Paused)
}

// putBack is the fate of a retry whose time comes while its destination is paused, since a
// time. It waits for as long as it has waited for that, in the steps of the delays, so that a
// short pause costs little time and a long one few writes. Between when it would have been
// attempted and when it is due next its window does not pass.
func (s *Schedule) putBack(h schemas.Headers, since, now time.Time) Fate {
	if since.Before(h.Due) {
		since = h.Due
	}
	if since.After(now) {
		since = now
	}
	delay := s.delays[0]
	for _, d := range s.delays {
		if d <= h.Paused {
			delay = d
		}
	}
	wait := s.spread(delay)
	due := now.Add(wait)
	h.Paused += due.Sub(since)
	h.Reserved = false
	return hoppedTo(h, appointment{due: due, topic: schemas.RetryTopic(s.fit(wait))})
}

// A retry of a destination that this sink does not know may be of a new one: retry
// topics are shared, and another sink, which has read of it, made the first attempt. So
// for a while it is put back instead of buried.
const (
	unknownFor   = time.Minute
	unknownPause = 5 * time.Second
)

// unknown is the fate of a record whose destination is not in the workspace.
func (s *Schedule) unknown(h schemas.Headers, now time.Time) Fate {
	if s.isRecent(h.FirstAttempt, now) {
		return hoppedTo(h, s.onward(now, now.Add(unknownPause)))
	}
	return deadFor(h, schemas.ReasonDestinationRemoved, "destination is not in the workspace")
}

// isRecent reports whether the first attempt was made so lately that the destination
// may be new. First attempts themselves, which have made none, come from its own topic,
// which is consumed because the workspace names it, or named it once.
func (s *Schedule) isRecent(first, now time.Time) bool {
	return !first.IsZero() && now.Sub(first) < min(unknownFor, s.window)
}

// reserved is the fate of a retry that was due when its destination had no room,
// and was given a slot in the future. One beyond the window is of no use: it
// comes at the window's end then, and takes its chance.
func (s *Schedule) reserved(h schemas.Headers, slot, now time.Time) Fate {
	first := began(&h)
	if first.IsZero() {
		first = now
	}
	h.Reserved = true
	return hoppedTo(h, s.within(now, first, slot))
}

// Last reports whether an attempt at a record now is its last, so that it must be
// made even if it can hardly succeed.
func (s *Schedule) Last(h *schemas.Headers, now time.Time) bool {
	return s.last(now, began(h), h.Attempt+h.Withheld)
}

// After decides the fate of an event after an attempt that began at a time and
// ended with o at now.
func (s *Schedule) After(h schemas.Headers, o outcome.Outcome, at, now time.Time) Fate {
	if h.FirstAttempt.IsZero() || h.FirstAttempt.After(at) {
		// A first attempt in the future means that a clock went back. Counting
		// from now at least bounds the window by its own length.
		h.FirstAttempt, h.Paused = at, 0
	}
	h.Due, h.Reserved, h.Answer = time.Time{}, false, nil
	if o.Verdict == outcome.Withheld {
		return s.withheld(h, o, now)
	}
	h.Attempt = min(h.Attempt+1, schemas.MaxAttempts)
	switch o.Verdict {
	case outcome.Delivered:
		return Fate{Ending: Delivered, Headers: h}
	case outcome.Dead:
		return deadFor(h, o.Reason, o.Detail).with(o.Answer)
	case outcome.Retry:
		h.Reason, h.Detail, h.Endpoints = o.Reason, o.Detail, o.Endpoints
		next, ok := s.again(now, began(&h), h.Attempt+h.Withheld, o.RetryAfter)
		if !ok {
			return s.exceeded(h).with(o.Answer)
		}
		h.Due = next.due
		return Fate{Ending: Retried, Topic: next.topic, Headers: h}
	default: // abandoned
		return Fate{Ending: Unfinished, Headers: h}
	}
}

// withheld is the fate of an event whose attempt was not made.
func (s *Schedule) withheld(h schemas.Headers, o outcome.Outcome, now time.Time) Fate {
	last := s.Last(&h, now) // before this one is counted, as it was asked before the attempt
	if o.Reason != "" {
		// Should its window end while the endpoint is down, this is what the dead letter
		// says it failed of; without it, what its last attempt failed of stands.
		h.Reason, h.Detail = o.Reason, o.Detail
	}
	h.Withheld = min(h.Withheld+1, schemas.MaxAttempts)
	at := s.untilProbe(now, began(&h), o.Until, h.Attempt+h.Withheld)
	if last {
		// A last attempt is made even at an endpoint that is down, but only by some
		// events at a time, and this one was not among them. Its window is not over
		// yet: it gets another chance right before the end (a due time beyond the end
		// means that). Only where no time is left for that is it given up: within two
		// of the shortest delays it might come back after the end.
		end := s.end(began(&h))
		if end.Sub(now) < 2*s.delays[0] {
			return s.exceeded(h)
		}
		at = s.within(now, began(&h), end.Add(1))
	}
	h.Due = at.due
	return Fate{Ending: Withheld, Topic: at.topic, Headers: h}
}

func hoppedTo(h schemas.Headers, at appointment) Fate {
	h.Due = at.due
	return Fate{Ending: Hopped, Topic: at.topic, Headers: h}
}

func deadFor(h schemas.Headers, reason schemas.Reason, detail string) Fate {
	h.Reason, h.Detail, h.Due, h.Reserved = reason, detail, time.Time{}, false
	return Fate{Ending: Dead, Headers: h}
}

// with has a dead letter say what the endpoint answered to the last attempt, if that is kept.
func (f Fate) with(a *outcome.Answer) Fate {
	if a != nil {
		f.Headers.Answer = a.Body
	}
	return f
}

// exceeded ends the retries of an event, and says what they failed of.
func (s *Schedule) exceeded(h schemas.Headers) Fate {
	detail := fmt.Sprintf("not delivered within %s, attempts: %d", Brief(s.window), h.Attempt)
	if h.Withheld > 0 {
		detail += fmt.Sprintf(", held back while the endpoint was down: %d", h.Withheld)
	}
	if h.Paused > 0 {
		detail += ", beside " + Brief(h.Paused.Round(time.Second)) + " in which the destination was paused"
	}
	if h.Reason != "" {
		detail += "; it last failed with " + string(h.Reason)
	}
	if h.Detail != "" {
		detail += ": " + h.Detail
	}
	return deadFor(h, schemas.ReasonWindowExceeded, detail)
}

// TooLarge is the fate instead of f when the broker does not take f's record
// because of its size: a retry record becomes a dead letter, and a dead letter one without
// the endpoint's answer, and then one that only says where the value stands.
func (f Fate) TooLarge() Fate {
	switch {
	case f.Ending == Dead && f.Headers.Answer != nil:
		f.Headers.Answer = nil
		return f
	case f.Ending == Dead:
		f.Headers.Reference = true
		return f
	}
	return deadFor(f.Headers, schemas.ReasonRecordTooLarge, "the broker refused the record with its retry headers as too large")
}

// Record is what is written for the fate of a record r at now, nil when nothing
// is.
func (f Fate) Record(r *kgo.Record, now time.Time) *kgo.Record {
	switch f.Ending {
	case Retried, Withheld, Hopped:
		again := &kgo.Record{Topic: f.Topic, Key: r.Key, Value: r.Value}
		kafka.SetHeaders(again, &f.Headers)
		return again
	case Dead:
		if f.Headers.Reference {
			return kafka.DeadLetterReference(r, f.Headers, now)
		}
		return kafka.DeadLetter(r, f.Headers, now)
	case Delivered, Unfinished:
	}
	return nil
}
