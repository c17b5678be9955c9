package dispatch

import (
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/retry"
)

// schedule decides when a batch leaves. Its methods do nothing else.
type schedule struct {
	lastFlush time.Time // or the start
	flushBy   time.Time // for what waits; zero when nothing does
	dueUpTo   uint64    // messages up to this one leave as soon as they may

	failures int       // attempts in a row that have to be repeated
	paused   time.Time // nothing new leaves before it: the client's own choice
	idle     bool      // nothing new has left since that was set
	asked    time.Time // nor before this: the server's
}

// arm sets the moment of the next flush when the first message waits. It counts from
// the last flush, but a message that comes long after that one still waits for
// others.
func (s *schedule) arm(now time.Time, after time.Duration) {
	s.flushBy = s.lastFlush.Add(after)
	if !s.flushBy.After(now) {
		s.flushBy = now.Add(after)
	}
}

// left notes that a batch has left.
func (s *schedule) left(now time.Time, after time.Duration, waiting int) {
	s.lastFlush, s.flushBy, s.idle = now, time.Time{}, false
	if waiting > 0 {
		s.arm(now, after)
	}
}

// expire makes all that waits due when the moment of the flush has come.
func (s *schedule) expire(now time.Time, last uint64) {
	if !s.flushBy.IsZero() && !now.Before(s.flushBy) {
		s.dueUpTo, s.flushBy = last, time.Time{}
	}
}

// fail lets nothing leave for a while, since an attempt has failed; asked is how
// long the server wants to be left alone. A pause is not made longer before
// something new has left: a batch that fails for ever on its own account would put off
// all others for ever.
func (s *schedule) fail(now time.Time, asked time.Duration, dice float64) {
	s.failures++
	if !s.idle {
		s.paused, s.idle = now.Add(retry.Delay(s.failures, dice)), true
	}
	if until := now.Add(asked); until.After(s.asked) {
		s.asked = until
	}
}

// succeed ends the client's own pause. The server's stays: it may have asked for it
// in answer to another batch.
func (s *schedule) succeed() { s.failures, s.paused, s.idle = 0, time.Time{}, false }

// pause returns how much longer nothing may leave.
func (s *schedule) pause(now time.Time) time.Duration {
	return max(s.paused.Sub(now), s.asked.Sub(now), 0)
}

// full reports whether enough messages are eligible to leave without being due.
func (c *Config) full(eligible queue.Load) bool {
	return eligible.Messages >= c.FlushAt || eligible.Bytes >= c.BatchBytes
}

// next reports whether a batch leaves now. If not, wait is how long to wait before
// asking again, unless something happens first; 0 means for ever.
func (s *schedule) next(now time.Time, q *queue.Queue, c *Config) (leave bool, wait time.Duration) {
	oldest, ok := q.Due()
	due := ok && oldest <= s.dueUpTo
	switch {
	case ok && (due || c.full(q.Eligible())):
		if pause := s.pause(now); pause > 0 {
			return false, pause
		}
		return true, 0
	case s.flushBy.IsZero():
		return false, 0
	}
	return false, max(s.flushBy.Sub(now), 1)
}
