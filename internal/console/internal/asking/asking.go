package asking

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Options say how long things take, and how many there are.
type Options struct {
	Fresh    time.Duration // how long an answer is given without asking again, at least
	Deadline time.Duration // how long asking may take
	Patience time.Duration // how long whoever asks waits for an answer that is not there yet
	Most     int           // how many questions are remembered at a time
}

const (
	// seldom is how many times as long as it took an answer is fresh.
	seldom = 4
	// failed is how long a failure is told before the question is asked again.
	failed = 2 * time.Second
	// abandoned is how long after the last look a question is given up.
	abandoned = 20 * time.Second
)

// ErrBusy says that as many questions as are remembered are being asked.
var ErrBusy = errors.New("too many other questions are being answered, try again in a moment")

// Func asks. Whatever say is told is shown to those who wait.
type Func[K comparable, V any] func(ctx context.Context, question K, say func(string)) (V, error)

// Answer is what is known of a question at a moment.
type Answer[V any] struct {
	Value V         // the last one there was
	At    time.Time // when that was known; zero: it never was
	Err   error     // of the last time that the question was asked; nil: there is Value, or nothing yet

	Asking bool      // whether the question is being asked right now
	Since  time.Time // from when
	Said   string    // how far that is; empty: nothing was said
}

// Known reports whether there is a value.
func (a *Answer[V]) Known() bool { return !a.At.IsZero() }

// Shared asks each question once for all who want to know. It may be used by many goroutines.
type Shared[K comparable, V any] struct {
	Options

	ask     Func[K, V]
	running sync.WaitGroup

	mu        sync.Mutex
	questions map[K]*question[V]
	closed    bool
}

// question is one that was asked. Its fields are under the mutex of its Shared.
type question[V any] struct {
	Answer[V]

	fresh  time.Time     // until when nobody asks again
	looked time.Time     // when somebody last wanted to know
	done   chan struct{} // closed by the end of the asking
	cancel context.CancelFunc
	left   *time.Timer // gives the asking up when nobody comes back
}

// New returns a Shared that asks by a function.
func New[K comparable, V any](options Options, ask Func[K, V]) *Shared[K, V] {
	return &Shared[K, V]{Options: options, ask: ask, questions: make(map[K]*question[V])}
}

// Ask returns what is known, and has asked what is not known, or not any more. It waits for
// that for at most Patience, or until ctx ends; the asking goes on.
func (s *Shared[K, V]) Ask(ctx context.Context, key K) Answer[V] {
	q, done := s.look(ctx, key)
	if q == nil {
		return Answer[V]{Err: ErrBusy}
	}
	patience := time.NewTimer(s.Patience)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.Answer
}

// Outdate has a question asked again by whoever wants to know next: what it is about was
// changed.
func (s *Shared[K, V]) Outdate(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q := s.questions[key]; q != nil {
		q.fresh = time.Time{}
	}
}

// Close gives up all that is being asked, and returns when that has ended.
func (s *Shared[K, V]) Close() {
	s.mu.Lock()
	s.closed = true
	for _, q := range s.questions {
		if q.Asking {
			q.cancel()
		}
	}
	s.mu.Unlock()
	s.running.Wait()
}

// look returns the question, which is being asked if that is due, and what is closed once
// that has ended; nil: there is no room.
func (s *Shared[K, V]) look(ctx context.Context, key K) (*question[V], <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, q := time.Now(), s.questions[key]
	if q == nil {
		if q = s.add(key); q == nil {
			return nil, nil
		}
	}
	q.looked = now
	switch {
	case q.Asking:
		q.left.Reset(abandoned)
	case !now.Before(q.fresh):
		s.start(ctx, key, q, now)
	}
	return q, q.done
}

// add makes room for a question, where that of none that is being asked has to be taken.
func (s *Shared[K, V]) add(key K) *question[V] {
	if len(s.questions) >= s.Most {
		var oldest K
		var least *question[V]
		for k, q := range s.questions {
			if !q.Asking && (least == nil || q.looked.Before(least.looked)) {
				oldest, least = k, q
			}
		}
		if least == nil {
			return nil
		}
		delete(s.questions, oldest)
	}
	q := new(question[V])
	s.questions[key] = q
	return q
}

// start asks. It does so for all, so the end of the request that began it is not its end.
func (s *Shared[K, V]) start(ctx context.Context, key K, q *question[V], now time.Time) {
	q.done = make(chan struct{})
	if s.closed {
		close(q.done)
		return
	}
	q.Asking, q.Since, q.Said = true, now, ""
	ctx, q.cancel = context.WithTimeoutCause(context.WithoutCancel(ctx), s.Deadline, fmt.Errorf("no answer within %s", s.Deadline))
	q.left = time.AfterFunc(abandoned, q.cancel)
	s.running.Go(func() {
		value, err := s.ask(ctx, key, func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			q.Said = text
		})
		if err != nil && context.Cause(ctx) != nil {
			err = context.Cause(ctx)
		}
		s.end(q, value, err)
	})
}

// end keeps what came of asking. A value that is there stays when asking again fails.
func (s *Shared[K, V]) end(q *question[V], value V, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q.left.Stop()
	q.cancel()
	q.Asking, q.Said, q.Err = false, "", err
	q.fresh = now.Add(failed)
	if err == nil {
		q.Value, q.At = value, now
		q.fresh = now.Add(max(s.Fresh, seldom*now.Sub(q.Since)))
	}
	close(q.done)
}
