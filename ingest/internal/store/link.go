package store

import (
	"errors"
	"fmt"
	"sync"
)

// link is what is known of the way to the brokers: whether they answer. It
// starts as lost. A request must not wait out its whole deadline to find that
// there is nobody, and one that already waits when they go is to be let go.
type link struct {
	mu     sync.Mutex
	lost   chan struct{} // closed while the brokers do not answer
	up     bool
	misses int
	cause  error // of the last miss
}

// errNoAnswerYet is what is missing before the first probe.
var errNoAnswerYet = errors.New("no broker has answered yet")

func newLink() *link {
	l := &link{lost: make(chan struct{}), cause: errNoAnswerYet}
	close(l.lost)
	return l
}

// missesToLose is how many probes in a row must fail: one alone may have hit a
// connection that had died of old age.
const missesToLose = 2

// report takes in the outcome of a probe and tells whether the state changed
// by it.
func (l *link) report(err error) (changed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.up
	if l.cause = err; err == nil {
		l.misses = 0
		l.up = true
	} else {
		l.misses++
		l.up = l.up && l.misses < missesToLose
	}
	switch {
	case l.up && !was:
		l.lost = make(chan struct{})
	case was && !l.up:
		close(l.lost)
	}
	return l.up != was
}

// open returns a channel that is closed when the brokers stop answering. The
// error says that they do not answer now, and why.
func (l *link) open() (gone <-chan struct{}, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.up {
		return nil, fmt.Errorf("%w: %w", errNoBrokers, l.cause)
	}
	return l.lost, nil
}
