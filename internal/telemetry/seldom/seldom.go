// Package seldom decides which of many like lines a log gets.
package seldom

import (
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Every is how often one destination may be logged for one reason. A dead endpoint
// at full concurrency fails a dozen times a second.
const Every = 10 * time.Second

// Kind is what makes lines alike. There are few: configured destinations, and a
// closed set of reasons.
type Kind struct {
	Destination string
	Reason      schemas.Reason
}

// Log lets the first line of a kind through at once, and then at most one in
// Every. The zero value is ready. It may be used by many goroutines.
type Log struct {
	mu    sync.Mutex
	kinds map[Kind]*count
}

type count struct {
	logged time.Time
	passed int
}

// Admit reports whether a line of this kind may be logged now, and how many were
// passed over since the last one.
func (l *Log) Admit(kind Kind, now time.Time) (passed int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.kinds[kind]
	if c == nil {
		if l.kinds == nil {
			l.kinds = make(map[Kind]*count)
		}
		c = &count{}
		l.kinds[kind] = c
	} else if now.Sub(c.logged) < Every {
		c.passed++
		return 0, false
	}
	passed, c.passed, c.logged = c.passed, 0, now
	return passed, true
}
