package schedule

import "time"

// For tests of the defaults, which package config has, and that imports this one.

func (a appointment) Due() time.Time { return a.due }

func (s *Schedule) Again(now, first time.Time, appointments int, hint time.Duration) (appointment, bool) {
	return s.again(now, first, appointments, hint)
}

func (s *Schedule) UntilProbe(now, first, until time.Time, appointments int) appointment {
	return s.untilProbe(now, first, until, appointments)
}

func (s *Schedule) IsLast(now, first time.Time, appointments int) bool {
	return s.last(now, first, appointments)
}

func (s *Schedule) End(first time.Time) time.Time { return s.end(first) }
