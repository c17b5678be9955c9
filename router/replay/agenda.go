package replay

import "time"

const (
	// standsStill is how long nothing may be heard of a run before this process takes it
	// from the one that has it, which says something every beatEvery.
	standsStill = 20 * time.Second
	beatEvery   = 5 * time.Second

	// retryAfter is the first pause after a run could not be taken, or had to be given up;
	// each further one is twice as long, up to longestPause.
	retryAfter   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// agenda says when this process takes up which run. It is used by one goroutine.
type agenda struct {
	// alone says that there is no other process: who had a run before is gone.
	alone bool
	known map[string]*appointment
}

type appointment struct {
	last  *Entry    // as it was when we looked
	since time.Time // when it became so
	due   time.Time // not before this
	pause time.Duration
}

// next returns the run that is to be taken up now, nil if there is none; then wait is how
// long until there may be one, zero for never. Those that are in hand are left out.
func (a *agenda) next(all []*Entry, inHand func(id string) bool, now time.Time) (e *Entry, wait time.Duration) {
	for _, e := range all {
		if e.Over() || inHand(e.Run.ID) || e.Run.Wish == Paused {
			delete(a.known, e.Run.ID)
			continue
		}
		due := a.look(e, now)
		if !due.After(now) {
			return e, 0
		}
		if left := due.Sub(now); wait == 0 || left < wait {
			wait = left
		}
	}
	return nil, wait
}

// look takes in how far a run has come and returns when it is due: at once where nobody has
// it, and when it stands still where somebody else has.
func (a *agenda) look(e *Entry, now time.Time) time.Time {
	p := a.known[e.Run.ID]
	if p == nil {
		p = &appointment{pause: retryAfter}
		a.known[e.Run.ID] = p
	}
	if p.last != e {
		p.last, p.since = e, now
	}
	due := p.since
	if e.Claim.Token != "" && !a.alone {
		due = p.since.Add(standsStill)
	}
	if due.Before(p.due) {
		return p.due
	}
	return due
}

// failed puts a run off. Two processes that keep taking it from each other would both get
// nowhere: the pauses grow until one of them has the time.
func (a *agenda) failed(id string, now time.Time) {
	p := a.known[id]
	if p == nil {
		p = &appointment{pause: retryAfter}
		a.known[id] = p
	}
	if now.Sub(p.due) > longestPause {
		p.pause = retryAfter // the last failure is long ago
	}
	p.due = now.Add(p.pause)
	p.pause = min(2*p.pause, longestPause)
}
