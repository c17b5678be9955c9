// Package logging decides which of many like lines a log gets. What fails does so many
// times a second, and a log that is full of it hides all else and fills the disk.
//
// # Non-obvious
//
//   - Kinds may be texts of errors, of which there is no end: what was not logged of late
//     is forgotten (TestRefusalsForgetWhatIsOld).
package logging

import (
	"cmp"
	"math"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Every is how often lines of one kind are written where nothing else is said.
const Every = 10 * time.Second

// Once is for lines that are written once in a process's life.
const Once time.Duration = math.MaxInt64

// Kind is what makes lines alike that are about the delivery of events. There are few:
// configured destinations, and a closed set of reasons.
type Kind struct {
	Destination string
	Reason      schemas.Reason
}

// Sampler lets the first lines of a kind through at once, and then as many in each
// interval. The zero value is ready, with one line in [Every]. It may be used by many
// goroutines.
type Sampler[K comparable] struct {
	Every time.Duration // 0: [Every]
	Lines int           // 0: one

	mu    sync.Mutex
	kinds map[K]*count
	swept time.Time
}

// count is of one kind.
type count struct {
	began  time.Time // of the interval
	lines  int       // written in it
	passed int       // over since the last one written
}

// Admit reports whether a line of this kind may be written now, and how many were
// passed over since the last one.
func (s *Sampler[K]) Admit(kind K, now time.Time) (passed int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	c := s.kinds[kind]
	if c == nil {
		if s.kinds == nil {
			s.kinds = make(map[K]*count)
		}
		c = &count{began: now}
		s.kinds[kind] = c
	} else if now.Sub(c.began) >= s.every() {
		c.began, c.lines = now, 0
	}
	if c.lines >= cmp.Or(s.Lines, 1) {
		c.passed++
		return 0, false
	}
	c.lines++
	passed, c.passed = c.passed, 0
	return passed, true
}

// Forget has the next line of each kind written at once.
func (s *Sampler[K]) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.kinds)
}

func (s *Sampler[K]) every() time.Duration { return cmp.Or(s.Every, Every) }

// sweep forgets the kinds of which there was no line of late: at once where none was
// passed over, and else only when nobody is likely to ask how many were.
func (s *Sampler[K]) sweep(now time.Time) {
	const patience = 10 // intervals
	if now.Sub(s.swept) < s.every() {
		return
	}
	s.swept = now
	for kind, c := range s.kinds {
		if quiet := now.Sub(c.began); quiet >= s.every() && (c.passed == 0 || quiet/patience >= s.every()) {
			delete(s.kinds, kind)
		}
	}
}
