//go:build go1.26

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

// full has room for two messages of one user and a server that is down.
func full(policy Policy) func(*Config) {
	return func(c *Config) { c.MaxMessages, c.FlushAt, c.BatchMessages, c.Full = 2, 1, 1, policy }
}

func TestRefuseWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, full(Refuse))
		l.respond(always(down(0)))
		l.put(t, "u", 1, 2)
		if err := l.Put(t.Context(), message("m3", "u", 1)); !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
		if s := l.Stats(); s.Accepted != 2 || s.Refused != 1 {
			t.Errorf("%+v", s)
		}
		l.respond(nil)
		virtual.Sleep(time.Second)
		l.put(t, "u", 4, 1)
		l.end(t)
	})
}

func TestBytesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.MaxBytes, c.Full = 100, Refuse })
		l.respond(always(down(0)))
		for _, c := range []struct {
			size int
			want error
		}{{60, nil}, {41, ErrFull}, {40, nil}, {1, ErrFull}} {
			if err := l.Put(t.Context(), message("m", "u", c.size)); !errors.Is(err, c.want) {
				t.Errorf("%d bytes: got %v, want %v", c.size, err, c.want)
			}
		}
		if s := l.Stats(); s.QueuedBytes != 100 {
			t.Errorf("%+v", s)
		}
		l.respond(nil)
		l.end(t)
	})
}

// A queue that is too small for a batch leaves when it is full.
func TestFullQueueLeaves(t *testing.T) {
	for _, policy := range []Policy{Block, Refuse, DropOldest} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, func(c *Config) { c.MaxMessages, c.Full = 3, policy })
			l.put(t, "u", 1, 3)
			synctest.Wait()
			if got := l.Stats(); got.Queued != 3 {
				t.Errorf("policy %d: %+v before it was full", policy, got)
			}
			_ = l.Put(t.Context(), message("m4", "u", 1))
			synctest.Wait()
			if got := l.Stats(); time.Since(l.start) != 0 || got.Sent == 0 {
				t.Errorf("policy %d: %+v after %v", policy, got, time.Since(l.start))
			}
			l.end(t)
		})
	}
}

// Callers who wait get room in the order in which they came, and theirs is the next
// place in the queue.
func TestBlockWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, full(Block))
		l.respond(always(down(0)))
		l.put(t, "u", 1, 2)
		errs := make(chan error, 3)
		for _, id := range []string{"m3", "m4", "m5"} {
			go func() { errs <- l.Put(context.WithoutCancel(t.Context()), message(id, "u", 1)) }()
			synctest.Wait()
		}
		if s := l.Stats(); s.Queued != 2 || len(errs) != 0 {
			t.Fatalf("%+v", s)
		}
		l.respond(nil)
		virtual.Sleep(time.Second)
		for range 3 {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		l.end(t)
		var order []string
		for _, o := range l.told() {
			order = append(order, o.id)
		}
		if got, want := order, []string{"m1", "m2", "m3", "m4", "m5"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

func TestBlockEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, full(Block))
		l.respond(always(down(0)))
		l.put(t, "u", 1, 2)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := l.Put(ctx, message("m3", "u", 1))
		if !errors.Is(err, ErrFull) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if s := l.Stats(); s.Refused != 1 || len(l.blocked) != 0 {
			t.Errorf("%+v, %d callers wait", s, len(l.blocked))
		}
		l.respond(nil)
		l.end(t)
	})
}

// A large message that waits for room keeps others behind it, but not when its
// caller has gone.
func TestBlockedCallerMakesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.Full, c.MaxBytes = Block, 100 })
		l.respond(always(down(0)))
		l.put(t, "u", 1, 5)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		large := make(chan error, 1)
		go func() { large <- l.Put(ctx, message("large", "u", 90)) }()
		synctest.Wait()
		patient, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := l.Put(patient, message("small", "u", 10)); err != nil || time.Since(l.start) != time.Second {
			t.Errorf("%v after %v", err, time.Since(l.start))
		}
		if err := <-large; !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		l.respond(nil)
		l.end(t)
	})
}

func TestBlockEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, full(Block))
		l.respond(always(down(0)))
		l.put(t, "u", 1, 2)
		blocked := make(chan error, 1)
		go func() { blocked <- l.Put(context.WithoutCancel(t.Context()), message("m3", "u", 1)) }()
		synctest.Wait()
		l.respond(nil)
		l.end(t)
		if err := <-blocked; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// The oldest that waits makes room, also when it waits for another attempt.
func TestDropOldestWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, full(DropOldest))
		l.respond(always(down(0)))
		l.put(t, "u", 1, 1)
		synctest.Wait() // m1 has failed
		l.put(t, "u", 2, 3)
		flushed := make(chan error, 1)
		go func() { flushed <- l.Flush(context.WithoutCancel(t.Context())) }()
		synctest.Wait()
		l.put(t, "u", 5, 1)
		want := []string{"m1", "m2", "m3"}
		var dropped []string
		for _, o := range l.told() {
			if errors.Is(o.err, ErrDropped) {
				dropped = append(dropped, o.id)
			}
		}
		if !reflect.DeepEqual(dropped, want) {
			t.Errorf("got  %v\nwant %v", dropped, want)
		}
		l.respond(nil)
		l.end(t)
		if err := <-flushed; err != nil {
			t.Errorf("a flush whose messages were dropped: %v", err)
		}
		if s := l.Stats(); s.Accepted != 5 || s.Dropped != 3 || s.Sent != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// In an outage the oldest messages make room, also when they wait for another attempt:
// what is left when it ends is the youngest.
func TestDropOldestInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.MaxMessages, c.BatchMessages, c.FlushAt, c.Full = 100, 50, 5, DropOldest })
		l.respond(always(failing(503)))
		const all = 3000
		for i := range all {
			l.put(t, fmt.Sprint("u", i), i, 1)
			virtual.Sleep(500 * time.Millisecond)
		}
		l.respond(nil)
		l.end(t)
		sent := 0
		for _, o := range l.told() {
			n, _ := strconv.Atoi(o.id[1:])
			if o.err == nil {
				sent++
			}
			if kept := n >= all-100; kept != (o.err == nil) {
				t.Errorf("%s: %v", o.id, o.err)
			}
		}
		if sent != 100 {
			t.Errorf("%d sent", sent)
		}
	})
}

func TestDropOldestWithEverythingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { full(DropOldest)(c); c.BatchMessages = 2 })
		l.respond(hang)
		l.put(t, "u", 1, 1)
		l.put(t, "v", 2, 1)
		synctest.Wait()
		if err := l.Put(t.Context(), message("m3", "w", 1)); !errors.Is(err, ErrFull) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if unsent, _ := l.Close(ctx); len(unsent) != 2 {
			t.Errorf("%d unsent", len(unsent))
		}
	})
}

// Whoever is told of an outcome may queue another message: its room is free by
// then.
func TestPutInReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *lab
		again := make(chan error, 8)
		l = newLab(t, func(c *Config) {
			full(Block)(c)
			c.MaxMessages = 1
			c.Report = func(m *queue.Message, err error) {
				l.report(m, err)
				if m.ID == "m1" {
					again <- l.Put(context.Background(), message("m2", "u", 1))
				}
			}
		})
		l.respond(func(context.Context, []*queue.Message) upload.Answer { return taken })
		l.put(t, "u", 1, 1)
		virtual.Sleep(time.Second)
		if err := <-again; err != nil {
			t.Error(err)
		}
		l.end(t)
		if s := l.Stats(); s.Sent != 2 {
			t.Errorf("%+v", s)
		}
	})
}
