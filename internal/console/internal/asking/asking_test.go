package asking_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/console/internal/asking"
	"github.com/anabranch/anabranch/test/virtual"
)

func options() asking.Options {
	return asking.Options{Fresh: 4 * time.Second, Deadline: time.Minute, Patience: 100 * time.Millisecond, Most: 2}
}

// takes returns what answers a question with how often it was asked, after a while.
func takes(d time.Duration, times *atomic.Int64) asking.Func[string, int] {
	return func(ctx context.Context, _ string, say func(string)) (int, error) {
		n := int(times.Add(1))
		say("half way")
		select {
		case <-time.After(d):
			return n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func TestManyAskOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		s := asking.New(options(), takes(50*time.Millisecond, &times))
		defer s.Close()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if a := s.Ask(t.Context(), "how"); !a.Known() || a.Value != 1 || a.Asking || a.Err != nil {
					t.Errorf("found %+v", a)
				}
			})
		}
		all.Wait()
		virtual.Sleep(3 * time.Second)
		if s.Ask(t.Context(), "how"); times.Load() != 1 {
			t.Errorf("asked %d times within its time", times.Load())
		}
		virtual.Sleep(2 * time.Second)
		if a := s.Ask(t.Context(), "how"); a.Value != 2 {
			t.Errorf("a stale answer was not asked for again: %+v", a)
		}
	})
}

func TestNobodyWaitsLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		s := asking.New(options(), takes(5*time.Second, &times))
		defer s.Close()
		began := time.Now()
		a := s.Ask(t.Context(), "how")
		if time.Since(began) != 100*time.Millisecond || a.Known() || !a.Asking || a.Said != "half way" || !a.Since.Equal(began) {
			t.Errorf("after %s: %+v", time.Since(began), a)
		}
		virtual.Sleep(6 * time.Second)
		if a = s.Ask(t.Context(), "how"); a.Value != 1 || a.Asking || a.Said != "" {
			t.Errorf("after the answer: %+v", a)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if a = s.Ask(gone, "why"); !a.Asking {
			t.Errorf("the question ended with its request: %+v", a)
		}
		virtual.Sleep(6 * time.Second)
		if a = s.Ask(t.Context(), "why"); !a.Known() {
			t.Errorf("found %+v", a)
		}
	})
}

func TestALongQuestionIsAskedSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		s := asking.New(options(), takes(5*time.Second, &times))
		defer s.Close()
		for range 50 {
			s.Ask(t.Context(), "how")
			virtual.Sleep(time.Second)
		}
		if n := times.Load(); n < 2 || n > 3 {
			t.Errorf("asked %d times in 50s, of which it may take a fifth", n)
		}
	})
}

func TestNobodyComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		var ended atomic.Value
		s := asking.New(options(), func(ctx context.Context, key string, say func(string)) (int, error) {
			n, err := takes(50*time.Second, &times)(ctx, key, say)
			ended.Store(err)
			return n, err
		})
		defer s.Close()
		for range 25 {
			s.Ask(t.Context(), "how")
			virtual.Sleep(time.Second)
		}
		if err := ended.Load(); err != nil {
			t.Errorf("it was given up while somebody waited: %v", err)
		}
		virtual.Sleep(21 * time.Second)
		if err, _ := ended.Load().(error); !errors.Is(err, context.Canceled) {
			t.Errorf("nobody waits, and it ended with %v", err)
		}
	})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		var fails atomic.Bool
		fails.Store(true)
		broken := errors.New("broker unavailable")
		s := asking.New(options(), func(context.Context, string, func(string)) (int, error) {
			if n := times.Add(1); !fails.Load() {
				return int(n), nil
			}
			return 0, broken
		})
		defer s.Close()
		for range 3 {
			if a := s.Ask(t.Context(), "how"); !errors.Is(a.Err, broken) || a.Known() || times.Load() != 1 {
				t.Errorf("asked %d times: %+v", times.Load(), a)
			}
		}
		fails.Store(false)
		virtual.Sleep(3 * time.Second)
		if a := s.Ask(t.Context(), "how"); a.Err != nil || a.Value != 2 {
			t.Errorf("found %+v", a)
		}
		fails.Store(true)
		virtual.Sleep(5 * time.Second)
		if a := s.Ask(t.Context(), "how"); !errors.Is(a.Err, broken) || a.Value != 2 || !a.Known() {
			t.Errorf("what was known is lost: %+v", a)
		}
	})
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		set := options()
		set.Deadline = 10 * time.Second
		var times atomic.Int64
		s := asking.New(set, takes(time.Hour, &times))
		defer s.Close()
		s.Ask(t.Context(), "how")
		virtual.Sleep(10 * time.Second)
		if a := s.Ask(t.Context(), "how"); a.Err == nil || !strings.Contains(a.Err.Error(), "no answer within 10s") {
			t.Errorf("found %+v", a)
		}
	})
}

func TestRoomIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		s := asking.New(options(), takes(5*time.Second, &times))
		defer s.Close()
		s.Ask(t.Context(), "a")
		s.Ask(t.Context(), "b")
		if a := s.Ask(t.Context(), "c"); !errors.Is(a.Err, asking.ErrBusy) {
			t.Errorf("a third question: %+v", a)
		}
		virtual.Sleep(5 * time.Second)
		s.Ask(t.Context(), "b")
		if a := s.Ask(t.Context(), "c"); a.Err != nil || !a.Asking {
			t.Errorf("what was looked at longest ago has to make room: %+v", a)
		}
		if a := s.Ask(t.Context(), "b"); !a.Known() {
			t.Errorf("what was looked at last made room: %+v", a)
		}
	})
}

func TestClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var times atomic.Int64
		s := asking.New(options(), takes(time.Hour, &times))
		s.Ask(t.Context(), "how")
		began := time.Now()
		s.Close()
		if time.Since(began) != 0 {
			t.Errorf("the stop took %s", time.Since(began))
		}
		if a := s.Ask(t.Context(), "how"); a.Asking || times.Load() != 1 {
			t.Errorf("asked after the stop: %+v", a)
		}
		s.Close()
	})
}
