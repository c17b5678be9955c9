//go:build go1.26

package dispatch

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/upload"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

// The pauses of a batch double up to ten seconds, each in the upper half of its
// size, and go on for as long as it takes.
func TestBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt = 1 })
		l.respond(always(down(0)))
		l.put(t, "u", 1, 1)
		virtual.Sleep(2 * time.Minute)
		l.respond(nil)
		l.end(t)
		posts := l.attempts()
		if len(posts) < 15 {
			t.Fatalf("%d attempts in two minutes", len(posts))
		}
		most := 100 * time.Millisecond
		for i := 1; i < len(posts)-1; i++ {
			if got := posts[i].at - posts[i-1].at; got < most/2 || got >= most {
				t.Errorf("pause %d: %v, want between %v and %v", i, got, most/2, most)
			}
			if posts[i].id != posts[0].id {
				t.Errorf("attempt %d has another batch id", i)
			}
			most = min(2*most, 10*time.Second)
		}
	})
}

// What the server asks for goes before the client's own pause, for the batch that
// it answered and for all that leave later.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt = 1 })
		l.respond(always(down(2 * time.Second)))
		l.put(t, "u1", 1, 1)
		synctest.Wait()
		l.respond(nil)
		l.put(t, "u2", 2, 1)
		virtual.Sleep(2*time.Second - 1)
		synctest.Wait()
		if got := l.attempts(); len(got) != 1 {
			t.Fatalf("the server was not left alone: %v", got)
		}
		virtual.Sleep(200*time.Millisecond + 1)
		synctest.Wait()
		if got := l.attempts(); len(got) != 3 {
			t.Errorf("%d attempts after the pause, want both messages sent", len(got))
		}
		l.end(t)
	})
}

// The success of another batch does not end a pause that the server has asked for.
func TestRetryAfterOutlivesSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt = 1 })
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			if batch[0].User == "slow" {
				virtual.Sleep(time.Second)
				return taken
			}
			return down(10 * time.Second)
		})
		l.put(t, "slow", 1, 1)
		synctest.Wait()
		l.put(t, "u", 2, 1)
		virtual.Sleep(2 * time.Second)
		l.respond(nil)
		l.put(t, "v", 3, 1)
		virtual.Sleep(7 * time.Second)
		if got := len(l.attempts()); got != 2 {
			t.Errorf("%d attempts, want none in the pause", got)
		}
		virtual.Sleep(3 * time.Second)
		l.end(t)
		if got := len(l.attempts()); got != 4 {
			t.Errorf("%d attempts in all", got)
		}
	})
}

// A batch that the server can't take keeps its own user waiting, and nobody else
// for long.
func TestOneBadBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.MaxMessages = 1, 10_000 })
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			if batch[0].User == "bad" {
				return down(0)
			}
			return taken
		})
		l.put(t, "bad", 0, 2)
		synctest.Wait()
		for i := range 600 {
			l.put(t, "good", 1000+i, 1)
			virtual.Sleep(100 * time.Millisecond)
		}
		if s := l.Stats(); s.Sent < 595 || s.Queued > 7 {
			t.Errorf("of 600 good messages: %+v", s)
		}
		l.respond(nil)
		l.end(t)
	})
}

func TestRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		refusal := &upload.Refusal{Status: 401, Code: "invalid_write_key"}
		l.respond(always(upload.Answer{Verdict: upload.Refused, Err: refusal}))
		l.put(t, "u", 1, 2)
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		alone := &upload.Refusal{Status: 200, Code: "too_large"}
		l.respond(always(upload.Answer{Verdict: upload.Taken, Rejected: map[int]*upload.Refusal{1: alone, 7: alone, -1: alone}}))
		l.put(t, "u", 3, 3)
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.respond(always(upload.Answer{Verdict: upload.Refused, Err: refusal, Rejected: map[int]*upload.Refusal{0: alone}}))
		l.put(t, "u", 6, 2)
		l.end(t)
		want := []outcome{{"m1", refusal}, {"m2", refusal}, {"m3", nil}, {"m4", alone}, {"m5", nil}, {"m6", alone}, {"m7", refusal}}
		if got := l.told(); !slices.Equal(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
		if s := l.Stats(); s.Sent != 2 || s.Rejected != 5 || s.Requests != 3 || s.Retries != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A user's next batch waits until the one before has been decided on, however often
// that is attempted; another user's does not.
func TestOrderAcrossRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages = 2, 2 })
		attempts := 0
		l.respond(func(_ context.Context, batch []*queue.Message) upload.Answer {
			if batch[0].User == "a" && attempts < 3 {
				attempts++
				return down(0)
			}
			return taken
		})
		l.put(t, "a", 1, 6)
		synctest.Wait()
		l.put(t, "b", 11, 2)
		l.end(t)
		var order []string
		for _, o := range l.told() {
			order = append(order, o.id)
		}
		if got, want := order, []string{"m11", "m12", "m1", "m2", "m3", "m4", "m5", "m6"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

func TestInFlightIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(c *Config) { c.FlushAt, c.BatchMessages, c.MaxInFlight = 1, 1, 3 })
		l.respond(func(context.Context, []*queue.Message) upload.Answer {
			virtual.Sleep(time.Second)
			return taken
		})
		for i, user := range []string{"a", "b", "c", "d", "e"} {
			l.put(t, user, i, 1)
		}
		synctest.Wait()
		if s := l.Stats(); s.InFlight != 3 || s.Queued != 5 {
			t.Errorf("%+v", s)
		}
		virtual.Sleep(time.Second)
		synctest.Wait()
		if got := len(l.attempts()); got != 5 {
			t.Errorf("%d attempts after the first were done", got)
		}
		l.end(t)
	})
}
