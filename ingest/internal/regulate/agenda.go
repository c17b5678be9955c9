package regulate

import (
	"time"

	"github.com/anabranch/anabranch/internal/regulation"
)

const (
	// takeOverAfter is how long a regulation must stand still before this process
	// takes it up for another one. A step takes a fraction of it.
	takeOverAfter = 5 * time.Second

	// retryAfter is the first pause after an attempt that failed; each further one
	// is twice as long, up to longestPause.
	retryAfter   = time.Second
	longestPause = time.Minute
)

// agenda says when this process takes up which regulation. It is used by one
// goroutine.
type agenda map[string]*appointment

type appointment struct {
	last  regulation.Progress
	due   time.Time
	pause time.Duration // before the next attempt, should this one fail
}

// next returns the id of the regulation that is to be taken up now, empty if there
// is none; then wait is how long until there may be one, zero for never. mine tells
// which ones this process was asked for, which need not wait for anybody.
func (a agenda) next(unfinished []regulation.Progress, mine func(id string) bool, now time.Time) (id string, wait time.Duration) {
	a.forget(unfinished)
	for _, progress := range unfinished {
		due := a.look(progress, mine(progress.ID), now)
		if !due.After(now) {
			return progress.ID, 0
		}
		if left := due.Sub(now); wait == 0 || left < wait {
			wait = left
		}
	}
	return "", wait
}

// look takes in how far a regulation has come and returns when it is due.
func (a agenda) look(p regulation.Progress, mine bool, now time.Time) time.Time {
	e := a[p.ID]
	switch {
	case e == nil && mine:
		e = &appointment{last: p, due: now, pause: retryAfter}
		a[p.ID] = e
	case e == nil || e.last != p:
		// Somebody gets on with it.
		e = &appointment{last: p, due: now.Add(takeOverAfter), pause: takeOverAfter}
		a[p.ID] = e
	}
	return e.due
}

// failed puts a regulation off. Two processes that keep taking it from each other
// would both get nowhere: the pauses grow until one of them has the time.
func (a agenda) failed(p regulation.Progress, now time.Time) {
	e := a[p.ID]
	if e == nil {
		return
	}
	e.last, e.due = p, now.Add(e.pause)
	e.pause = min(2*e.pause, longestPause)
}

// forget drops what is no longer unfinished.
func (a agenda) forget(unfinished []regulation.Progress) {
	left := make(map[string]bool, len(unfinished))
	for _, p := range unfinished {
		left[p.ID] = true
	}
	for id := range a {
		if !left[id] {
			delete(a, id)
		}
	}
}
