package idle

import (
	"slices"
	"sync"
	"time"
)

// List holds the idle connections to one place. The zero value is empty. It belongs
// to the first [Pool] that it is used with.
type List[C any] struct {
	mu      sync.Mutex
	resting []resting[C] // the one used last is the last
	listed  bool         // with the pool
}

type resting[C any] struct {
	conn    C
	expires time.Time
}

// pop takes out the connection that was used last, which is the least likely to
// have been closed by the other side; false when there is none.
func (l *List[C]) pop() (resting[C], bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.resting) - 1
	if last < 0 {
		return resting[C]{}, false
	}
	r := l.resting[last]
	l.resting[last] = resting[C]{} // or the array would keep it alive
	l.resting = l.resting[:last]
	return r, true
}

// push adds a connection, if less than limit are there. News is true for one whose
// list the pool does not know of.
func (l *List[C]) push(r resting[C], limit int) (room, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.resting) >= limit {
		return false, false
	}
	news = !l.listed
	l.resting = append(l.resting, r)
	l.listed = true
	return true, news
}

// expired takes out the connections whose time is over, or all of them. A list that
// is left without any is not listed any more.
func (l *List[C]) expired(now time.Time, all bool) (over []C, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = slices.DeleteFunc(l.resting, func(r resting[C]) bool {
		if !all && now.Before(r.expires) {
			return false
		}
		over = append(over, r.conn)
		return true
	})
	l.listed = len(l.resting) > 0
	return over, l.listed
}
