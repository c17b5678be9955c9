// Package schedule decides when a batch leaves. It starts no goroutine, has no lock, and
// is told the time.
package schedule

import (
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/retry"
)

// Schedule decides when a batch leaves. Its methods do nothing else.
type Schedule struct {
	LastFlush time.Time // or the start
	FlushBy   time.Time // for what waits; zero when nothing does
	DueUpTo   uint64    // messages up to this one leave as soon as they may

	failures int       // attempts in a row that have to be repeated
	paused   time.Time // nothing new leaves before it: the client's own choice
	idle     bool      // nothing new has left since that was set
	asked    time.Time // nor before this: the server's
}

// Arm sets the moment of the next flush when the first message waits. It counts from
// the last flush, but a message that comes long after that one still waits for
// others.
func (s *Schedule) Arm(now time.Time, after time.Duration) {
	s.FlushBy = s.LastFlush.Add(after)
	if !s.FlushBy.After(now) {
		s.FlushBy = now.Add(after)
	}
}

// Left notes that a batch has left.
func (s *Schedule) Left(now time.Time, after time.Duration, waiting int) {
	s.LastFlush, s.FlushBy, s.idle = now, time.Time{}, false
	if waiting > 0 {
		s.Arm(now, after)
	}
}

// Expire makes all that waits due when the moment of the flush has come.
func (s *Schedule) Expire(now time.Time, last uint64) {
	if !s.FlushBy.IsZero() && !now.Before(s.FlushBy) {
		s.DueUpTo, s.FlushBy = last, time.Time{}
	}
}

// Fail lets nothing new leave for a while, since an attempt has failed. A pause is
// not made longer before something new has left: a batch that fails for ever on its
// own account would put off all others for ever.
func (s *Schedule) Fail(now time.Time, dice float64) {
	s.failures++
	if !s.idle {
		s.paused, s.idle = now.Add(retry.Delay(s.failures, dice)), true
	}
}

// Ask has the server left alone for as long as it has asked for.
func (s *Schedule) Ask(now time.Time, asked time.Duration) {
	if until := now.Add(asked); asked > 0 && until.After(s.asked) {
		s.asked = until
	}
}

// Succeed ends the client's own pause. The server's stays: it may have asked for it
// in answer to another batch.
func (s *Schedule) Succeed() { s.failures, s.paused, s.idle = 0, time.Time{}, false }

// pause returns how much longer nothing may leave.
func (s *Schedule) pause(now time.Time) time.Duration {
	return max(s.paused.Sub(now), s.asked.Sub(now), 0)
}

// Trigger is how much makes a batch leave without being due.
type Trigger struct{ Messages, Bytes int }

// Full reports whether enough messages are eligible to leave without being due.
func (c Trigger) Full(eligible queue.Load) bool {
	return eligible.Messages >= c.Messages || eligible.Bytes >= c.Bytes
}

// Ever is how long to wait for nothing in particular.
const Ever = time.Hour

// Next reports whether a batch leaves now. If not, wait is how long to wait before
// asking again, unless something happens first.
func (s *Schedule) Next(now time.Time, q *queue.Queue, c Trigger) (leave bool, wait time.Duration) {
	oldest := q.Oldest()
	switch {
	case oldest != nil && (oldest.Seq <= s.DueUpTo || c.Full(q.Eligible())):
		if pause := s.pause(now); pause > 0 {
			return false, pause
		}
		return true, 0
	case s.FlushBy.IsZero():
		return false, Ever
	}
	return false, max(s.FlushBy.Sub(now), 1)
}
