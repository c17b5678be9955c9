package idle

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// shed is a pool of numbers, which remembers those that it closed.
type shed struct {
	*Pool[int]

	mu     sync.Mutex
	closed []int
}

func newShed() *shed {
	s := new(shed)
	s.Pool = NewPool(func(conn int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.closed = append(s.closed, conn)
	})
	return s
}

// expect compares what was closed, in whatever order, and what is counted as idle.
func (s *shed) expect(t *testing.T, idle int, closed ...int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := slices.Sorted(slices.Values(s.closed)); !slices.Equal(got, closed) {
		t.Errorf("closed %v, want %v", got, closed)
	}
	if got := s.count.Load(); got != int64(idle) {
		t.Errorf("%d are counted as idle, want %d", got, idle)
	}
}

// known returns how many lists the pool knows of, and whether its timer runs.
func (s *shed) known() (lists int, sweeping bool) {
	s.Pool.mu.Lock()
	defer s.Pool.mu.Unlock()
	return len(s.lists), s.timer != nil
}

// keep puts a new connection back, for as long as may be.
func (s *shed) keep(t *testing.T, l *List[int], conn int) {
	t.Helper()
	if !s.Keep(l, conn, time.Now(), maxTime, 8) {
		t.Fatalf("no room for %d", conn)
	}
}

func TestTheLastComesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, here, there := newShed(), new(List[int]), new(List[int])
		defer s.Close()
		s.keep(t, here, 1)
		s.keep(t, there, 2)
		s.keep(t, here, 3)
		for _, want := range []int{3, 1} {
			if got, ok := s.Take(here); !ok || got != want {
				t.Errorf("took %d, %t, want %d", got, ok, want)
			}
		}
		if got, ok := s.Take(here); ok {
			t.Errorf("took %d from an empty list", got)
		}
		s.expect(t, 1)
	})
}

// TestHowLongOneIsKept: the least of three bounds, and none that has no time left.
func TestHowLongOneIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		age, idle, kept time.Duration
	}{
		"half a minute":                {0, time.Hour, maxTime},
		"as long as the other side":    {0, 4 * time.Second, 4 * time.Second},
		"until it is too old":          {maxAge - time.Second, time.Hour, time.Second},
		"not if the other side closes": {0, 0, 0},
		"not beyond its age":           {maxAge, time.Hour, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, l := newShed(), new(List[int])
				defer s.Close()
				born := time.Now().Add(-c.age)
				if kept := s.Keep(l, 1, born, c.idle, 8); kept != (c.kept > 0) {
					t.Fatalf("kept: %t", kept)
				}
				if c.kept == 0 {
					s.expect(t, 0) // it is the caller's
					return
				}
				virtual.Sleep(c.kept - 1) // virtual
				if _, ok := s.Take(l); !ok {
					t.Fatalf("gone before %s", c.kept)
				}
				s.Keep(l, 1, born, c.idle, 8)
				virtual.Sleep(c.kept)
				if _, ok := s.Take(l); ok {
					t.Errorf("there after %s", c.kept)
				}
			})
		})
	}
}

func TestThereIsRoomForSoMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := newShed(), new(List[int])
		for conn, want := range []bool{true, true, false} {
			if got := s.Keep(l, conn, time.Now(), maxTime, 2); got != want {
				t.Errorf("kept %d: %t, want %t", conn, got, want)
			}
		}
		s.expect(t, 2)
		lists := make([]List[int], maxConns)
		for i := range maxConns - 2 {
			s.keep(t, &lists[i], i)
		}
		if s.Keep(&lists[maxConns-1], 0, time.Now(), maxTime, 2) {
			t.Errorf("kept one more than %d", maxConns)
		}
		s.Close()
		if n := s.count.Load(); n != 0 {
			t.Errorf("%d are left after Close", n)
		}
	})
}

// TestWhatNobodyComesForIsSwept: all connections, and then all trace of their lists
// and the timer itself.
func TestWhatNobodyComesForIsSwept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, early, late := newShed(), new(List[int]), new(List[int])
		s.keep(t, early, 1)
		virtual.Sleep(maxTime / 2) // virtual
		s.keep(t, late, 2)
		virtual.Sleep(maxTime/2 + sweepInterval)
		synctest.Wait()
		s.expect(t, 1, 1)
		if lists, sweeping := s.known(); lists != 1 || !sweeping {
			t.Errorf("%d lists are known, sweeping %t; want the later one, and the timer for it", lists, sweeping)
		}
		virtual.Sleep(maxTime)
		synctest.Wait()
		s.expect(t, 0, 1, 2)
		if lists, sweeping := s.known(); lists != 0 || sweeping {
			t.Errorf("%d lists are known, sweeping %t; want neither", lists, sweeping)
		}
	})
}

// TestAClosedPoolKeepsNothing: neither what was there nor what comes back.
func TestAClosedPoolKeepsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := newShed(), new(List[int])
		s.keep(t, l, 1)
		s.Close()
		s.expect(t, 0, 1)
		s.keep(t, l, 2) // it is closed, but not by the caller
		s.expect(t, 0, 1, 2)
		if _, sweeping := s.known(); sweeping {
			t.Error("the timer runs")
		}
	})
}

// TestClosedWhileItIsSwept: the sweep has the lists in its hands, and Close finds none.
func TestClosedWhileItIsSwept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, l := newShed(), new(List[int])
		drop := s.drop
		s.drop = func(conn int) {
			s.Close()
			drop(conn)
		}
		s.keep(t, l, 1)
		virtual.Sleep(maxTime / 2)
		s.keep(t, l, 2)
		virtual.Sleep(maxTime / 2) // the sweep finds the first one expired, and the second not
		synctest.Wait()
		s.expect(t, 0, 1, 2)
	})
}

// TestNoneIsLostNorHandedOutTwice, whoever comes between.
func TestNoneIsLostNorHandedOutTwice(t *testing.T) {
	t.Parallel()
	const conns, rounds = 16, 500
	s, l := newShed(), new(List[int])
	for conn := range conns {
		s.Keep(l, conn, time.Now(), maxTime, conns)
	}
	var inUse [conns]sync.Mutex
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for range rounds {
				conn, ok := s.Take(l)
				if !ok {
					t.Error("none is idle, and only four are in use")
					return
				}
				if !inUse[conn].TryLock() {
					t.Errorf("%d is in use twice", conn)
					return
				}
				s.sweep()
				inUse[conn].Unlock()
				if !s.Keep(l, conn, time.Now(), maxTime, conns) {
					t.Errorf("no room for %d", conn)
				}
			}
		})
	}
	users.Wait()
	s.Close()
	all := make([]int, conns)
	for i := range all {
		all[i] = i
	}
	s.expect(t, 0, all...)
}
