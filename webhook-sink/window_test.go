package webhooksink

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// TestFourHoursAcrossRestarts is the window of spec.md, Errors, in virtual time:
// a receiver that answers 500 for ever gets its last attempt inside the four
// hours, although the sink is stopped twice and killed once.
func TestFourHoursAcrossRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		var mu sync.Mutex
		var attempts []time.Time
		failing := func(context.Context, *workspace.Destination, string) outcome.Outcome {
			mu.Lock()
			defer mu.Unlock()
			attempts = append(attempts, time.Now())
			return outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Detail: "status 500", Endpoints: []uint64{1}}
		}
		p.produce("crm", "user", "m1")
		began := time.Now()
		for i, uptime := range []time.Duration{time.Minute, 20 * time.Minute, time.Hour} {
			r := p.start(failing).ready()
			virtual.Sleep(uptime)
			if i == 1 {
				r.kill()
			} else {
				r.end()
			}
		}
		r := p.start(failing).ready()
		virtual.Sleep(2*time.Hour + 45*time.Minute)
		r.end()

		letters := p.deadLetters(1)
		if h := letters[0]; h.Reason != schemas.ReasonWindowExceeded || h.MessageID != "m1" || h.Destination != "crm" || h.Attempt != len(attempts) {
			t.Errorf("dead letter is %+v after %d attempts, expected window_exceeded of m1 at crm", h, len(attempts))
		}
		if len(attempts) < 15 || len(attempts) > 25 {
			t.Errorf("%d attempts, expected 15 to 25", len(attempts))
		}
		last := attempts[len(attempts)-1].Sub(attempts[0])
		if last > 4*time.Hour || last < 3*time.Hour+30*time.Minute {
			t.Errorf("last attempt %s after the first, expected it in the last half hour of the window", last)
		}
		t.Logf("%d attempts, the first %s after the event, the last %s after that", len(attempts), attempts[0].Sub(began), last)
	})
}

// TestAReceiverThatRecoversGetsTheEventOnce, an hour later.
func TestAReceiverThatRecoversGetsTheEventOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		began := time.Now()
		l := newLedger(10 * time.Millisecond)
		l.answer = func(string, string, int) outcome.Outcome {
			if time.Since(began) < time.Hour {
				return failed(schemas.ReasonNetwork)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		p.produce("crm", "user", ids("m", 20)...)
		r := p.start(l.attempt).ready()
		virtual.Sleep(90 * time.Minute)
		r.end()
		l.once(t, ids("m", 20))
		for id, at := range l.times {
			if late := at.Sub(began) - time.Hour; late < 0 || late > 29*time.Minute {
				t.Errorf("%s was delivered %s after the receiver recovered, expected within the longest delay", id, late)
			}
		}
		if got := r.metric("hops_total"); got != 0 {
			t.Errorf("%v retries were put back, expected none", got)
		}
		p.deadLetters(0)
	})
}

// TestALongPauseThatTheReceiverAskedFor is longer than any topic's delay.
func TestALongPauseThatTheReceiverAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(0)
		began := time.Now()
		var second time.Duration
		l.answer = func(_, _ string, attempt int) outcome.Outcome {
			if attempt == 1 {
				o := failed(schemas.ReasonStatus5xx)
				o.RetryAfter = 80 * time.Minute
				return o
			}
			second = time.Since(began)
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		p.produce("crm", "user", "m1")
		r := p.start(l.attempt).ready()
		virtual.Sleep(82 * time.Minute)
		r.end()
		l.once(t, []string{"m1"})
		if second < 80*time.Minute || second > 80*time.Minute+time.Second {
			t.Errorf("second attempt after %s, expected 80m", second)
		}
		if got := r.metric("hops_total"); got < 2 || got > 5 {
			t.Errorf("%v hops in 80m, expected about one in 23m", got)
		}
	})
}

// TestRetriesWithoutASlotHopAndArrive: two hundred events come due together at a
// destination that takes two at a time.
func TestRetriesWithoutASlotHopAndArrive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"), destination("well"))
		l := newLedger(time.Second)
		l.answer = func(id, _ string, attempt int) outcome.Outcome {
			if attempt == 1 && id == "crm" {
				o := failed(schemas.ReasonStatus5xx)
				o.RetryAfter = 20 * time.Minute
				return o
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		for _, id := range ids("m", 200) {
			p.produce("crm", id, id)
		}
		r := p.start(l.attempt, func(c *Config, _ *Settings) { c.MaxInFlight = 4 }).ready()
		virtual.Sleep(40 * time.Minute)
		r.end()
		l.once(t, ids("m", 200))
		if got := r.metric("hops_total"); got < 100 {
			t.Errorf("%v hops, expected most of the retries to hop", got)
		}
		p.deadLetters(0)
	})
}

// TestAWindowThatEndedWhileNobodyRan: the event gets no attempt after it.
func TestAWindowThatEndedWhileNobodyRan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(0)
		l.answer = func(string, string, int) outcome.Outcome { return failed(schemas.ReasonTimeout) }
		p.produce("crm", "user", "m1")
		r := p.start(l.attempt).ready()
		testkit.Until(t, func() bool { return l.attempts["m1"] == 1 }, "the first attempt")
		r.end()
		virtual.Sleep(5 * time.Hour)
		r = p.start(l.attempt)
		h := p.deadLetters(1)[0]
		r.end()
		if h.Reason != schemas.ReasonWindowExceeded || h.Attempt != 1 || l.attempts["m1"] != 1 {
			t.Errorf("dead letter %+v after %d attempts, expected window_exceeded after one", h, l.attempts["m1"])
		}
	})
}
