//go:build go1.26

package dispatch

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

func TestCloseSendsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.BatchMessages = 2 })
		l.put(t, "u", 1, 5)
		l.end(t)
		if got := time.Since(l.start); got != 0 || len(l.told()) != 5 {
			t.Errorf("%d messages sent after %v", len(l.told()), got)
		}
	})
}

// An outage that ends before the deadline costs nothing: the pause under way is cut
// short, and the next ones are short again.
func TestCloseInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt = 1 })
		l.respond(always(down(0)))
		l.put(t, "u", 1, 1)
		virtual.Sleep(time.Minute)
		go func() {
			virtual.Sleep(300 * time.Millisecond)
			l.respond(nil)
		}()
		closing := time.Now()
		l.end(t)
		if got := time.Since(closing); got > 800*time.Millisecond {
			t.Errorf("closing took %v after an outage of 300ms", got)
		}
		virtual.Sleep(time.Second)
	})
}

// One that lasts longer returns every message, in the order of the calls, from
// batches that were out as well as from the queue.
func TestCloseReturnsWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages, c.MaxInFlight = 2, 2, 2 })
		l.respond(always(down(0)))
		l.put(t, "b", 1, 3)
		l.put(t, "a", 4, 3)
		virtual.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		closing := time.Now()
		unsent, err := l.Close(ctx)
		if got := time.Since(closing); got != 3*time.Second {
			t.Errorf("returned after %v", got)
		}
		if got, want := ids(unsent), []string{"m1", "m2", "m3", "m4", "m5", "m6"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if !errors.Is(err, ErrUnsent) || err.Error() != "not sent before the client was closed: last attempt: status 503" {
			t.Errorf("error: %v", err)
		}
		for _, o := range l.told() {
			if !errors.Is(o.err, ErrUnsent) {
				t.Errorf("%s: %v", o.id, o.err)
			}
		}
		if s := l.Stats(); s.Unsent != 6 || s.Queued != 0 || s.QueuedBytes != 0 || s.InFlight != 0 || len(l.told()) != 6 {
			t.Errorf("%+v", s)
		}
	})
}

// A request that hangs is cut at the deadline; what it said of itself is no reason.
func TestCloseCutsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.respond(hang)
		l.put(t, "u", 1, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		unsent, err := l.Close(ctx)
		if len(unsent) != 1 || !errors.Is(err, ErrUnsent) || errors.Is(err, context.Canceled) {
			t.Errorf("%d unsent, %v", len(unsent), err)
		}
	})
}

// A pause that the server has asked for is waited for by a closing client too.
func TestCloseObeysRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt = 1 })
		l.respond(always(down(2 * time.Second)))
		l.put(t, "u", 1, 1)
		synctest.Wait()
		l.respond(nil)
		l.end(t)
		if got := l.attempts()[1].at; got < 2*time.Second || got > 2200*time.Millisecond {
			t.Errorf("second attempt after %v", got)
		}
	})
}

func TestCloseAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.respond(func(context.Context, []*queue.Message) upload.Answer {
			virtual.Sleep(time.Second)
			return taken
		})
		l.put(t, "u", 1, 1)
		first := make(chan error, 1)
		go func() {
			_, err := l.Close(t.Context())
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		again := func(ctx context.Context, took time.Duration) {
			if _, err := l.Close(ctx); !errors.Is(err, ErrClosed) || time.Since(l.start) != took {
				t.Errorf("got %v after %v, want ErrClosed after %v", err, time.Since(l.start), took)
			}
		}
		again(ctx, 100*time.Millisecond)
		again(t.Context(), time.Second)
		again(t.Context(), time.Second)
		if err := <-first; err != nil {
			t.Errorf("the first close: %v", err)
		}
		if err := l.Put(t.Context(), message("late", "u", 1)); !errors.Is(err, ErrClosed) {
			t.Errorf("put: %v", err)
		}
		if err := l.Flush(t.Context()); err != nil {
			t.Errorf("flush: %v", err)
		}
	})
}

// An attempt that does not heed its context keeps Close for a second, not for
// ever. Its messages were not sent as far as anybody knows, whatever it says later.
func TestCloseWithAnAttemptThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages = 1, 1 })
		free := make(chan struct{})
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			<-free
			if batch[0].ID == "m1" {
				return down(0)
			}
			return taken
		})
		l.put(t, "u", 1, 2)
		l.put(t, "v", 3, 1)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		unsent, err := l.Close(ctx)
		if got := ids(unsent); time.Since(l.start) != 2*time.Second || !slices.Equal(got, []string{"m1", "m2", "m3"}) || !errors.Is(err, ErrUnsent) {
			t.Errorf("%v, %v after %v", got, err, time.Since(l.start))
		}
		close(free)
		<-l.ended
		told := l.told()
		if s := l.Stats(); len(told) != 3 || s.Unsent != 3 || s.Sent != 0 || s.Queued != 0 || s.QueuedBytes != 0 || s.InFlight != 0 {
			t.Errorf("%v, %+v", told, s)
		}
		for _, o := range told {
			if !errors.Is(o.err, ErrUnsent) {
				t.Errorf("%s: %v", o.id, o.err)
			}
		}
	})
}

// A report that closes the dispatcher it is told by waits for itself, until its
// context ends.
func TestCloseInReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *lab
		l = newLab(t, func(c *Config) {
			c.FlushAt = 1
			c.Report = func(m *queue.Message, err error) {
				l.report(m, err)
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				_, _ = l.Close(ctx)
			}
		})
		l.put(t, "u", 1, 1)
		<-l.ended
		if got := time.Since(l.start); got != 2*time.Second || len(l.told()) != 1 {
			t.Errorf("%d outcomes after %v", len(l.told()), got)
		}
	})
}
