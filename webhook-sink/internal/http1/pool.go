package http1

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxIdleTime   = 30 * time.Second
	maxAge        = 5 * time.Minute // so that a name's new address is found, and load spreads over it
	sweepInterval = 5 * time.Second
	maxIdleConns  = 2048 // over all endpoints; each costs a descriptor
)

// sweeper keeps idle connections with their endpoints, and closes those that
// nobody came for. One timer does it for all, and runs only while there are any.
type sweeper struct {
	closed atomic.Bool
	count  atomic.Int64 // of idle connections

	mu    sync.Mutex
	lists []*Endpoint // that have idle connections, or had some at the last sweep
	timer *time.Timer // nil: not running
}

// take returns the connection that was used last, which is the least likely to
// have been closed by the other side; nil when there is none.
func (s *sweeper) take(e *Endpoint) *conn {
	for {
		e.mu.Lock()
		last := len(e.idle) - 1
		if last < 0 {
			e.mu.Unlock()
			return nil
		}
		conn := e.idle[last]
		e.idle[last] = nil
		e.idle = e.idle[:last]
		e.mu.Unlock()
		s.count.Add(-1)
		if time.Now().Before(conn.expires) {
			return conn
		}
		conn.close()
	}
}

// keep puts a connection back, for at most the given time; false when there is no
// room for it.
func (s *sweeper) keep(e *Endpoint, conn *conn, idle time.Duration, limit int) bool {
	now := time.Now()
	conn.expires = now.Add(min(idle, maxIdleTime, conn.born.Add(maxAge).Sub(now)))
	if s.count.Add(1) > maxIdleConns || !conn.expires.After(now) {
		s.count.Add(-1)
		return false
	}
	e.mu.Lock()
	room := len(e.idle) < limit
	listed := e.listed
	if room {
		e.idle = append(e.idle, conn)
		e.listed = true
	}
	e.mu.Unlock()
	if !room {
		s.count.Add(-1)
		return false
	}
	if !listed {
		s.list(e)
	}
	if s.closed.Load() {
		s.reap(e, true) // close may have passed it by
	}
	return true
}

func (s *sweeper) list(endpoints ...*Endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, endpoints...)
	if s.timer == nil && len(s.lists) > 0 && !s.closed.Load() {
		s.timer = time.AfterFunc(sweepInterval, s.sweep)
	}
}

// sweep closes the connections whose time is over.
func (s *sweeper) sweep() {
	lists := s.unlist()
	lists = slices.DeleteFunc(lists, func(e *Endpoint) bool { return !s.reap(e, s.closed.Load()) })
	s.list(lists...)
}

func (s *sweeper) unlist() []*Endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	lists := s.lists
	s.lists = nil
	return lists
}

// reap closes an endpoint's connections whose time is over, or all of them, and
// reports whether there are any left. An endpoint without is not listed any more.
func (s *sweeper) reap(e *Endpoint, all bool) bool {
	now := time.Now()
	var over []*conn
	e.mu.Lock()
	e.idle = slices.DeleteFunc(e.idle, func(c *conn) bool {
		if !all && now.Before(c.expires) {
			return false
		}
		over = append(over, c)
		return true
	})
	e.listed = len(e.idle) > 0
	left := e.listed
	e.mu.Unlock()
	s.count.Add(-int64(len(over)))
	for _, c := range over {
		c.close()
	}
	return left
}

func (s *sweeper) close() {
	s.closed.Store(true)
	for _, e := range s.unlist() {
		s.reap(e, true)
	}
}
