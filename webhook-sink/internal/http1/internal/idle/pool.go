package idle

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxTime       = 30 * time.Second
	maxAge        = 5 * time.Minute // so that a name's new address is found, and load spreads over it
	sweepInterval = 5 * time.Second
	maxConns      = 2048 // over all lists; each costs a descriptor
)

// Pool keeps idle connections in lists. It may be used by many goroutines.
type Pool[C any] struct {
	drop   func(C)
	closed atomic.Bool
	count  atomic.Int64 // of idle connections

	mu    sync.Mutex
	lists []*List[C]  // that have idle connections, or had some at the last sweep
	timer *time.Timer // nil: not running
}

// NewPool returns a pool that closes connections by the function given.
func NewPool[C any](drop func(C)) *Pool[C] { return &Pool[C]{drop: drop} }

// Take returns the connection that was used last; false when there is none.
func (p *Pool[C]) Take(l *List[C]) (conn C, ok bool) {
	for {
		r, ok := l.pop()
		if !ok {
			return conn, false
		}
		p.count.Add(-1)
		if time.Now().Before(r.expires) {
			return r.conn, true
		}
		p.drop(r.conn)
	}
}

// Keep puts a connection back that was made at the time born, for as long as the
// other side keeps it idle and 30 seconds at most, until it is five minutes old.
// False means that there is no room for it, with limit to its list and 2,048 in all,
// or no time left: it is the caller's to close.
func (p *Pool[C]) Keep(l *List[C], conn C, born time.Time, idle time.Duration, limit int) bool {
	now := time.Now()
	expires := now.Add(min(idle, maxTime, born.Add(maxAge).Sub(now)))
	if p.count.Add(1) > maxConns || !expires.After(now) {
		p.count.Add(-1)
		return false
	}
	room, news := l.push(resting[C]{conn, expires}, limit)
	if !room {
		p.count.Add(-1)
		return false
	}
	if news {
		p.list(l)
	}
	if p.closed.Load() {
		p.reap(l, true) // Close may have passed it by
	}
	return true
}

// Close closes what is idle, and from then on whatever is put back.
func (p *Pool[C]) Close() {
	p.closed.Store(true)
	for _, l := range p.unlist() {
		p.reap(l, true)
	}
}

func (p *Pool[C]) list(lists ...*List[C]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lists = append(p.lists, lists...)
	if p.timer == nil && len(p.lists) > 0 && !p.closed.Load() {
		p.timer = time.AfterFunc(sweepInterval, p.sweep)
	}
}

// sweep closes the connections whose time is over.
func (p *Pool[C]) sweep() {
	lists := p.unlist()
	lists = slices.DeleteFunc(lists, func(l *List[C]) bool { return !p.reap(l, p.closed.Load()) })
	p.list(lists...)
	if p.closed.Load() {
		p.Close() // the one before may have come while the lists were in our hands
	}
}

func (p *Pool[C]) unlist() []*List[C] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	lists := p.lists
	p.lists = nil
	return lists
}

// reap closes a list's connections whose time is over, or all of them, and reports
// whether there are any left.
func (p *Pool[C]) reap(l *List[C], all bool) bool {
	over, left := l.expired(time.Now(), all)
	p.count.Add(-int64(len(over)))
	for _, conn := range over {
		p.drop(conn)
	}
	return left
}
