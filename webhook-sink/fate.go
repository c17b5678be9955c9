package webhooksink

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// ending is what becomes of a record.
type ending uint8

const (
	endDelivered  ending = iota + 1
	endRetried           // failed, and waits on a retry topic
	endHopped            // not tried, and waits on a retry topic once more
	endDead              // goes to dead-letters
	endUnfinished        // cut short by our own shutdown: nothing becomes of it here
)

// fate is an ending and what is written for it. Deciding it has no effects.
type fate struct {
	ending  ending
	topic   string          // of a retry record
	headers schemas.Headers // of what is written
}

// judge decides the fate of a job that is not to be attempted, or returns the
// destination to attempt it at. Each attempt goes by the workspace of its own
// moment: endpoints, secrets and headers may have changed since the last one, and
// the destination may be gone or switched off.
func (s *schedule) judge(j *job, ws *workspace.Snapshot, now time.Time) (*workspace.Destination, fate) {
	h := j.headers
	h.Destination = j.destination()
	dest, known := ws.Destination(h.Destination)
	switch {
	case j.err != nil:
		return nil, deadFor(h, schemas.ReasonRecordInvalid, j.err.Error())
	case h.Destination == "":
		return nil, deadFor(h, schemas.ReasonRecordInvalid, "header destination is missing")
	case !known:
		return nil, deadFor(h, schemas.ReasonDestinationRemoved, "destination is not in the workspace")
	case !dest.Enabled:
		return nil, deadFor(h, schemas.ReasonDestinationDisabled, "destination is switched off")
	case !h.FirstAttempt.IsZero() && now.After(s.end(h.FirstAttempt)):
		return nil, s.exceeded(h)
	case h.Due.After(now):
		return nil, hoppedTo(h, s.onward(now, h.Due))
	case !j.attempt:
		return nil, s.putBack(h, now)
	}
	return dest, fate{}
}

// putBack is the fate of a retry that was due when its destination had no room.
func (s *schedule) putBack(h schemas.Headers, now time.Time) fate {
	if at, ok := s.soon(now, h.FirstAttempt); ok {
		return hoppedTo(h, at)
	}
	return s.exceeded(h)
}

// after decides the fate of an event after an attempt that began at began and
// ended with o at now.
func (s *schedule) after(h schemas.Headers, o outcome, began, now time.Time) fate {
	if h.FirstAttempt.IsZero() || h.FirstAttempt.After(began) {
		// A first attempt in the future means that a clock went back. Counting
		// from now at least bounds the window by its own length.
		h.FirstAttempt = began
	}
	h.Attempt = min(h.Attempt+1, schemas.MaxAttempts)
	h.Due = time.Time{}
	switch o.verdict {
	case delivered:
		return fate{ending: endDelivered, headers: h}
	case dead:
		return deadFor(h, o.reason, o.detail)
	case retry:
		h.Reason, h.Detail, h.Endpoints = o.reason, o.detail, o.endpoints
		at, ok := s.again(now, h.FirstAttempt, h.Attempt, o.retryAfter)
		if !ok {
			return s.exceeded(h)
		}
		h.Due = at.due
		return fate{ending: endRetried, topic: at.topic, headers: h}
	default: // abandoned
		return fate{ending: endUnfinished, headers: h}
	}
}

func hoppedTo(h schemas.Headers, at appointment) fate {
	h.Due = at.due
	return fate{ending: endHopped, topic: at.topic, headers: h}
}

func deadFor(h schemas.Headers, reason schemas.Reason, detail string) fate {
	h.Reason, h.Detail, h.Due = reason, detail, time.Time{}
	return fate{ending: endDead, headers: h}
}

// exceeded ends the retries of an event, and says what they failed of.
func (s *schedule) exceeded(h schemas.Headers) fate {
	detail := fmt.Sprintf("not delivered within %s, %d attempts", brief(s.window), h.Attempt)
	if h.Reason != "" {
		detail += "; the last failed with " + string(h.Reason)
	}
	if h.Detail != "" {
		detail += ": " + h.Detail
	}
	return deadFor(h, schemas.ReasonWindowExceeded, detail)
}

// tooLarge is the fate instead of f when the broker does not take f's record
// because of its size: a retry record becomes a dead letter, and a dead letter
// one that only says where the value stands.
func (f fate) tooLarge() fate {
	if f.ending == endDead {
		f.headers.Reference = true
		return f
	}
	return deadFor(f.headers, schemas.ReasonRecordTooLarge, "the broker refused the record with its retry headers as too large")
}

// record is what is written for the fate of a job, nil when nothing is.
func (f fate) record(j *job, now time.Time) *kgo.Record {
	switch f.ending {
	case endRetried, endHopped:
		r := &kgo.Record{Topic: f.topic, Key: j.record.Key, Value: j.record.Value}
		kafka.SetHeaders(r, &f.headers)
		return r
	case endDead:
		if f.headers.Reference {
			return kafka.DeadLetterReference(j.record, f.headers, now)
		}
		return kafka.DeadLetter(j.record, f.headers, now)
	case endDelivered, endUnfinished:
	}
	return nil
}
