package books

import (
	"fmt"
	"sync"
	"time"
)

// Books are safe for concurrent use. The zero value is not; use New.
type Books struct {
	run string

	mu       sync.Mutex
	accounts map[string]*account
}

// account is one producer's.
type account struct {
	events []event
	latest map[int]int // the highest sequence that has arrived, by key
	open   int         // promised, and neither accepted nor dead
	tally  Tally
}

// event is what is known of one event. It may arrive before its producer hears
// that it was stored.
type event struct {
	at       time.Time
	stored   time.Time // when it was promised
	first    time.Time // its first acceptance
	last     time.Time // its last
	offered  int       // how often its client sent it, if it says so
	accepted int
	attempts int
	promised bool
	dead     bool
}

// New returns books for the events of one run.
func New(run string) *Books { return &Books{run: run, accounts: make(map[string]*account)} }

// Run is the name of the run that the books are about.
func (b *Books) Run() string { return b.run }

// Promised notes that an event was stored: from here on it must not be lost.
func (b *Books) Promised(s Stamp) { b.Stored(s, s.At) }

// Stored is Promised by who knows since when.
func (b *Books) Stored(s Stamp, at time.Time) {
	b.change(s, func(a *account, e *event) {
		if !e.promised {
			e.promised, e.stored = true, at
			a.tally.Sent++
		}
	})
}

// Offered notes that a client sends an event to the collection API, for the first
// time or again: what it sends twice may arrive twice.
func (b *Books) Offered(s Stamp) {
	b.change(s, func(_ *account, e *event) { e.offered++ })
}

// Arrived notes an attempt that a receiver got. accepts is told how many attempts
// of the event came before, and says whether the receiver accepts this one.
//
// An acceptance counts when it is decided, before the answer is on its way: an
// answer that the sender never reads is one all the same, and its repeat is a
// duplicate.
func (b *Books) Arrived(s Stamp, now time.Time, accepts func(before int) bool) {
	b.change(s, func(a *account, e *event) {
		before := e.attempts
		e.attempts++
		if before == 0 {
			if latest, met := a.latest[s.Key]; met && s.Sequence < latest {
				a.tally.Inverted++
			} else {
				a.latest[s.Key] = s.Sequence
			}
		}
		if !accepts(before) {
			return
		}
		e.last = now
		if e.accepted++; e.accepted == 1 {
			e.first = now
		} else {
			a.tally.Doubled++
		}
	})
}

// Dead notes that an event stands in dead-letters.
func (b *Books) Dead(s Stamp) {
	b.change(s, func(a *account, e *event) {
		if !e.dead {
			e.dead = true
			a.tally.Dead++
		}
	})
}

// change applies a change to an event and keeps count of those that are open.
func (b *Books) change(s Stamp, apply func(*account, *event)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Run != b.run {
		return
	}
	a := b.accounts[s.Producer]
	if a == nil {
		a = &account{latest: make(map[int]int)}
		b.accounts[s.Producer] = a
	}
	for len(a.events) <= s.Sequence {
		a.events = append(a.events, event{})
	}
	e := &a.events[s.Sequence]
	e.at = s.At
	before := e.open()
	apply(a, e)
	a.open += e.open() - before
}

func (e *event) open() int {
	if e.promised && e.accepted == 0 && !e.dead {
		return 1
	}
	return 0
}

// A Tally is how the books stand.
type Tally struct {
	Sent     int // promised
	Lost     int // promised, neither accepted nor in dead-letters
	Dead     int // in dead-letters
	Doubled  int // acceptances beyond the first of each event
	Inverted int // first attempts that came after one of a younger event of the same key
}

// Tally sums up the producers that pick names; a nil pick takes all.
func (b *Books) Tally(pick func(producer string) bool) Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	var sum Tally
	for name, a := range b.accounts {
		if pick != nil && !pick(name) {
			continue
		}
		sum.Sent += a.tally.Sent
		sum.Lost += a.open
		sum.Dead += a.tally.Dead
		sum.Doubled += a.tally.Doubled
		sum.Inverted += a.tally.Inverted
	}
	return sum
}

// Unasked counts the acceptances beyond what a client has offered.
func (b *Books) Unasked() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, a := range b.accounts {
		for i := range a.events {
			n += max(0, a.events[i].accepted-a.events[i].offered)
		}
	}
	return n
}

// Again counts how often clients have offered what they had offered before.
func (b *Books) Again() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, a := range b.accounts {
		for i := range a.events {
			n += max(0, a.events[i].offered-1)
		}
	}
	return n
}

// Repeats describes up to n events that were accepted more than once: how long
// after the first time tells a timeout from a commit that was not made.
func (b *Books) Repeats(n int) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var some []string
	for name, a := range b.accounts {
		for i := range a.events {
			if e := &a.events[i]; e.accepted > 1 && len(some) < n {
				some = append(some, fmt.Sprintf("%s event %d after %s", name, i, e.last.Sub(e.first).Round(time.Millisecond)))
			}
		}
	}
	return some
}

// Span is a stretch of time, from its begin up to but without its end.
type Span struct{ From, To time.Time }

// Holds reports whether t lies within.
func (s Span) Holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

// Latencies returns, for each event promised that was made within the span, how
// long it took to its first acceptance. One that has not arrived took until now.
func (b *Books) Latencies(span Span, now time.Time, pick func(producer string) bool) []time.Duration {
	return b.latencies(span, now, pick, func(e *event) time.Time { return e.at })
}

// Deliveries is Latencies from when the events were stored. Who delivers one before
// its producer hears that it was took no time.
func (b *Books) Deliveries(span Span, now time.Time, pick func(producer string) bool) []time.Duration {
	return b.latencies(span, now, pick, func(e *event) time.Time { return e.stored })
}

func (b *Books) latencies(span Span, now time.Time, pick func(producer string) bool, since func(*event) time.Time) []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []time.Duration
	for name, a := range b.accounts {
		if pick != nil && !pick(name) {
			continue
		}
		for i := range a.events {
			e := &a.events[i]
			if !e.promised || !span.Holds(e.at) {
				continue
			}
			arrived := now
			if e.accepted > 0 {
				arrived = e.first
			}
			all = append(all, max(0, arrived.Sub(since(e))))
		}
	}
	return all
}

// Open counts the events promised that were made within the span and are neither
// accepted nor in dead-letters.
func (b *Books) Open(span Span) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, a := range b.accounts {
		for i := range a.events {
			if e := &a.events[i]; span.Holds(e.at) {
				n += e.open()
			}
		}
	}
	return n
}

// Accepted counts the events that were accepted for the first time within the
// span.
func (b *Books) Accepted(span Span, pick func(producer string) bool) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for name, a := range b.accounts {
		if pick != nil && !pick(name) {
			continue
		}
		for i := range a.events {
			if e := &a.events[i]; e.accepted > 0 && span.Holds(e.first) {
				n++
			}
		}
	}
	return n
}
