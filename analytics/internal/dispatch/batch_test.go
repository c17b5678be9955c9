//go:build go1.26

package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

func failing(status int) upload.Answer {
	return upload.Answer{Verdict: upload.Again, Err: &upload.Refusal{Status: status}}
}

var tooLarge = upload.Answer{Verdict: upload.Refused, Err: &upload.Refusal{Status: 413}}

// allergic is a server that fails over any request with a bad message.
func allergic(_ context.Context, batch []*queue.Message) upload.Answer {
	if slices.ContainsFunc(batch, func(m *queue.Message) bool { return strings.HasPrefix(m.User, "bad") }) {
		return failing(500)
	}
	return taken
}

// Batches that always fail, more of them than there may be requests, keep nobody
// else's messages.
func TestBatchesThatAlwaysFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages = 1, 1 })
		l.respond(allergic)
		for i := range 10 * l.cfg.MaxInFlight {
			l.put(t, fmt.Sprint("bad", i), i, 1)
		}
		virtual.Sleep(time.Minute)
		for i := range 100 {
			l.put(t, "good", 1000+i, 1)
		}
		virtual.Sleep(20 * time.Second)
		if s := l.Stats(); s.Sent != 100 || s.Queued != 40 {
			t.Errorf("%+v", s)
		}
		l.respond(nil)
		l.end(t)
	})
}

// One message that the server fails over is found, wherever it is in its batch; in
// the end nobody waits but its user.
func TestBadMessageIsFound(t *testing.T) {
	for _, at := range []int{0, 1, 777, 1500, 2499} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, func(c *Config) { c.BatchMessages, c.MaxMessages, c.FlushAt = 2500, 10_000, 2500 })
			l.respond(allergic)
			for i := range 2500 {
				user := fmt.Sprint("u", i)
				if i == at {
					user = "bad"
				}
				l.put(t, user, i, 1)
			}
			l.put(t, "bad", 9000, 1)
			virtual.Sleep(10 * time.Second)
			if s := l.Stats(); s.Sent != 2499 || s.Requests > 60 {
				t.Errorf("message %d is bad: %+v", at, s)
			}
			l.respond(nil)
			l.end(t)
		})
	}
}

// An outage does not grind batches into small ones: nearly all leave whole when it
// is over.
func TestOutageLeavesBatchesWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.BatchMessages, c.MaxMessages, c.MaxBytes = 500, 20_000, 1<<30 })
		l.respond(always(failing(503)))
		for i := range 10_000 {
			l.put(t, fmt.Sprint("u", i), i, 1)
		}
		virtual.Sleep(time.Hour)
		before := l.Stats().Requests
		l.respond(nil)
		virtual.Sleep(time.Minute)
		if s := l.Stats(); s.Sent != 10_000 || s.Requests-before > 60 {
			t.Errorf("%d requests after the outage, %+v", s.Requests-before, s)
		}
		l.end(t)
	})
}

// A proxy that takes less than the service does is found out, and remembered.
func TestTooLargeForAProxy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 60_000
		l := newLab(t, func(c *Config) { c.BatchMessages, c.MaxMessages, c.MaxBytes, c.FlushAt = 2500, 10_000, 1<<30, 500 })
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			if queue.Size(batch) > limit {
				return tooLarge
			}
			return taken
		})
		for i := range 5000 {
			if err := l.Put(t.Context(), message(fmt.Sprint("m", i), fmt.Sprint("u", i%50), 999)); err != nil {
				t.Fatal(err)
			}
		}
		virtual.Sleep(10 * time.Second)
		if s := l.Stats(); s.Sent != 5000 || s.Retries > 40 || s.Requests > 5_000_000/limit*4 {
			t.Errorf("%+v", s)
		}
		l.end(t)
	})
}

// A message that is too large by itself is refused.
func TestTooLargeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			if slices.ContainsFunc(batch, func(m *queue.Message) bool { return len(m.JSON) > 100 }) {
				return tooLarge
			}
			return taken
		})
		l.put(t, "u", 1, 9)
		if err := l.Put(t.Context(), message("big", "u", 101)); err != nil {
			t.Fatal(err)
		}
		l.put(t, "u", 11, 5)
		if err := l.Flush(t.Context()); err != nil || time.Since(l.start) != 0 {
			t.Errorf("%v after %v", err, time.Since(l.start))
		}
		if s := l.Stats(); s.Sent != 14 || s.Rejected != 1 {
			t.Errorf("%+v", s)
		}
		l.end(t)
	})
}

// A request that does not get through in time is repeated once as it is, and then in
// halves.
func TestSlowLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perSecond, timeout = 2000, 15 * time.Second
		l := newLab(t, func(c *Config) { c.BatchMessages, c.FlushAt, c.MaxInFlight = 2500, 200, 1 })
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			takes := time.Duration(queue.Size(batch)) * time.Second / perSecond
			if virtual.Sleep(min(takes, timeout)); takes > timeout {
				return upload.Answer{Verdict: upload.Again, Err: context.DeadlineExceeded, TimedOut: true}
			}
			return taken
		})
		for i := range 200 {
			if err := l.Put(t.Context(), message(fmt.Sprint("m", i), "u", 999)); err != nil {
				t.Fatal(err)
			}
		}
		virtual.Sleep(5 * time.Minute)
		if s := l.Stats(); s.Sent != 200 || s.Retries != 4 {
			t.Errorf("%+v", s)
		}
		if a, b := l.attempts()[0], l.attempts()[1]; a.id != b.id || len(b.ids) != 200 {
			t.Errorf("%d messages the second time", len(b.ids))
		}
		l.end(t)
	})
}

// The order of all holds with one request at a time, whatever is repeated or divided.
func TestOrderOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var arrived []string
		l := newLab(t, func(c *Config) { c.MaxInFlight, c.BatchMessages, c.FlushAt = 1, 8, 4 })
		failures := 0
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			mu.Lock()
			defer mu.Unlock()
			if failures++; failures%3 != 0 {
				return failing(500)
			}
			arrived = append(arrived, ids(batch)...)
			return taken
		})
		var want []string
		for i := range 60 {
			l.put(t, fmt.Sprint("u", i%7), i, 1)
			want = append(want, fmt.Sprint("m", i))
			virtual.Sleep(20 * time.Millisecond)
		}
		l.end(t)
		if !slices.Equal(arrived, want) {
			t.Errorf("got  %v\nwant %v", arrived, want)
		}
	})
}

// A message that has waited for longer than it may is given up, whether it waits for
// its first attempt or for another.
func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.MaxAge, c.MaxInFlight = 3, time.Minute, 1 })
		l.respond(always(failing(503)))
		l.put(t, "a", 1, 2)
		virtual.Sleep(30 * time.Second)
		l.put(t, "b", 3, 1)
		l.put(t, "a", 4, 1)
		virtual.Sleep(30*time.Second - 1)
		synctest.Wait()
		if got := l.told(); len(got) != 0 {
			t.Fatalf("given up too early: %v", got)
		}
		virtual.Sleep(2 * time.Millisecond)
		synctest.Wait()
		told := l.told()
		if s := l.Stats(); len(told) != 2 || told[0].id != "m1" || !errors.Is(told[0].err, ErrExpired) || s.Expired != 2 || s.Queued != 2 {
			t.Fatalf("%v, %+v", told, s)
		}
		l.respond(nil)
		l.end(t)
		if s := l.Stats(); s.Sent != 2 || s.Accepted != s.Sent+s.Expired {
			t.Errorf("%+v", s)
		}
	})
}
