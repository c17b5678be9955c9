//go:build go1.26

package dispatch

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

func TestBatchLeavesWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages = 3, 3 })
		l.put(t, "u", 1, 2)
		synctest.Wait()
		if got := l.attempts(); len(got) != 0 {
			t.Fatalf("a batch left before it was full: %v", got)
		}
		l.put(t, "u", 3, 1)
		synctest.Wait()
		if got := l.attempts(); len(got) != 1 || got[0].at != 0 || len(got[0].ids) != 3 {
			t.Fatalf("got %v, want one batch of three at once", got)
		}
		l.end(t)
	})
}

func TestBatchLeavesWhenItsBytesAreFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.BatchBytes = 100 })
		for i, id := range []string{"a", "b", "c"} {
			if err := l.Put(t.Context(), message(id, "u", 39)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if got := len(l.attempts()); got != i/2 {
				t.Fatalf("after %d messages of 40 bytes: %d batches", i+1, got)
			}
		}
		if got, want := l.attempts()[0].ids, []string{"a", "b"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		l.end(t)
	})
}

// The interval counts from the last flush, and a message that comes long after it
// waits for others all the same.
func TestBatchLeavesAfterTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		for i, pause := range []time.Duration{0, 7 * time.Second, 23 * time.Second} {
			virtual.Sleep(pause)
			l.put(t, "u", i+1, 1)
		}
		virtual.Sleep(10 * time.Second)
		var at []time.Duration
		for _, p := range l.attempts() {
			at = append(at, p.at)
		}
		if got, want := at, []time.Duration{5 * time.Second, 10 * time.Second, 35 * time.Second}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		l.end(t)
	})
}

// What a full batch leaves behind waits for its own interval.
func TestRestOfAFullBatchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages = 2, 2 })
		virtual.Sleep(time.Second)
		l.put(t, "u", 1, 3)
		virtual.Sleep(5*time.Second - 1)
		synctest.Wait()
		if got := len(l.attempts()); got != 1 {
			t.Fatalf("%d batches left before the interval", got)
		}
		virtual.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := l.attempts(); len(got) != 2 || got[1].at != 6*time.Second {
			t.Errorf("got %v", got)
		}
		l.end(t)
	})
}

func TestFlushWaitsForOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		if err := l.Flush(t.Context()); err != nil {
			t.Errorf("flush of nothing: %v", err)
		}
		l.put(t, "u", 1, 3)
		l.respond(func(context.Context, []*queue.Message) upload.Answer {
			virtual.Sleep(300 * time.Millisecond)
			return taken
		})
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(l.start); got != 300*time.Millisecond || len(l.told()) != 3 {
			t.Errorf("returned after %v with %d outcomes", got, len(l.told()))
		}
		l.end(t)
	})
}

// A flush is for what was there before it, not for what comes while it waits.
func TestFlushHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.respond(func(context.Context, []*queue.Message) upload.Answer {
			virtual.Sleep(time.Second)
			return taken
		})
		l.put(t, "u", 1, 1)
		done := make(chan error, 1)
		go func() { done <- l.Flush(t.Context()) }()
		synctest.Wait()
		l.put(t, "u", 2, 1)
		virtual.Sleep(time.Second)
		synctest.Wait()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the flush waits for a younger message")
		}
		l.end(t)
	})
}

func TestFlushEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.respond(always(down(0)))
		l.put(t, "u", 1, 1)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		if err := l.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if len(l.flushes) != 0 {
			t.Error("the flush is still waited for")
		}
		l.respond(nil)
		l.end(t)
	})
}

// A flush under way when the client is closed learns that its messages were not
// sent.
func TestFlushDuringClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.respond(always(down(0)))
		l.put(t, "u", 1, 2)
		done := make(chan error, 1)
		go func() { done <- l.Flush(context.WithoutCancel(t.Context())) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if unsent, _ := l.Close(ctx); len(unsent) != 2 {
			t.Errorf("%d unsent", len(unsent))
		}
		if err := <-done; !errors.Is(err, ErrClosed) {
			t.Errorf("flush: %v", err)
		}
	})
}
