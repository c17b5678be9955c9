package work

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// verdict judges one event.
type verdict struct {
	*simEvent

	life  *life
	event *lifeEvent
	posts []simPost
	t     *testing.T
}

func (c *verdict) errorf(format string, args ...any) {
	c.t.Helper()
	var story strings.Builder
	for _, a := range c.log {
		fmt.Fprintf(&story, "\n  %s +%s verdict %d last %t until %s retry after %s", a.began.Sub(c.created), a.took, a.outcome.Verdict, a.last, a.outcome.Until.Sub(a.began), a.outcome.RetryAfter)
	}
	for _, e := range c.ends {
		fmt.Fprintf(&story, "\n  %s: ending %d, %s due %s", e.at.Sub(c.created), e.fate.Ending, e.fate.Topic, e.fate.Headers.Due.Sub(c.created))
	}
	c.t.Errorf("event %d of %s: %s%s", c.event.number, c.event.destination, fmt.Sprintf(format, args...), &story)
}

func (c *verdict) judge(sums *lifeSums) {
	sums.events++
	sums.attempts += c.attempts
	sums.withheld += c.withheld
	sums.hops += c.hops
	if c.life.usual {
		sums.mostWrites = max(sums.mostWrites, c.writes)
	}
	if c.taken+c.dead == 0 {
		c.errorf("lost")
		return
	}
	switch {
	case c.taken > 0:
		sums.delivered++
	case c.reason == schemas.ReasonWindowExceeded:
		sums.exceeded++
	default:
		sums.refused++
	}
	c.judgeWindow()
	c.judgeAppointments(sums)
	if c.life.kills() {
		if c.taken+c.dead > 1 {
			sums.twice++
		}
		return
	}
	if c.life.usual {
		sums.mostAttempts = max(sums.mostAttempts, c.attempts)
	}
	c.judgeOnce()
	if !c.life.cuts() {
		c.judgeOwed()
	}
}

// judgeWindow: no attempt is made after the window's end. Two clocks may be wrong
// by their skews.
func (c *verdict) judgeWindow() {
	tolerance := time.Millisecond // headers count milliseconds
	if c.life.skewed {
		tolerance = 2 * maxSkew
	}
	if c.life.kills() || c.life.cuts() { // nothing is known of a first attempt that was not written down
		tolerance += time.Minute
	}
	for _, a := range c.log {
		if over := a.began.Sub(c.begun.Add(c.life.plan.window)); over > tolerance {
			c.errorf("attempt %s after the window's end", over)
		}
	}
}

// judgeAppointments: delays are the schedule's, spread by their jitter; what the
// receiver asked for is kept; nothing is due beyond the window.
func (c *verdict) judgeAppointments(sums *lifeSums) {
	var due time.Time
	for _, end := range c.ends {
		c.judgeHop(&due, end)
		made := c.before(end)
		switch ending := end.fate.Ending; {
		case ending == schedule.Hopped && end.fate.Headers.Reserved:
			sums.reserved++
		case made == nil:
		case ending == schedule.Withheld:
			c.judgeWithheld(made, end)
		case ending == schedule.Retried:
			c.judgeRetried(made, end, sums)
		}
	}
}

// limit is the end of the window that an event's headers tell of.
func (c *verdict) limit(end simEnding) time.Time {
	return end.fate.Headers.FirstAttempt.Add(c.life.plan.window)
}

func (c *verdict) judgeWithheld(made *simAttempt, end simEnding) {
	due, limit := end.fate.Headers.Due, c.limit(end)
	if due.After(limit) {
		c.errorf("due %s after the window's end", due.Sub(limit))
	}
	// The last appointment lies within two of the shortest delays of the window's end, even
	// where the endpoint is not probed before that.
	if due.Before(made.outcome.Until) && due.Before(limit.Add(-2*c.life.plan.delays[0])) {
		c.errorf("due %s before the probe", made.outcome.Until.Sub(due))
	}
}

func (c *verdict) judgeRetried(made *simAttempt, end simEnding, sums *lifeSums) {
	h, limit, delays := &end.fate.Headers, c.limit(end), c.life.plan.delays
	if h.Due.After(limit) {
		c.errorf("due %s after the window's end", h.Due.Sub(limit))
	}
	ended := made.began.Add(made.took)
	wait, asked := h.Due.Sub(ended), made.outcome.RetryAfter
	if asked > 0 && !ended.Add(asked).After(limit) {
		sums.hinted++
		if wait < asked {
			c.errorf("Retry-After of %s, due after %s", asked, wait)
		}
		return
	}
	delay := delays[min(h.Attempt+h.Withheld, len(delays))-1]
	part := (float64(wait)/float64(delay) - 0.75) * 2
	if part < -1e-6 || part > 1+1e-6 {
		c.errorf("due after %s, expected %s within a quarter", wait, delay)
		return
	}
	sums.jitter[min(max(int(part*10), 0), 9)]++
}

// judgeHop: a retry that is put back keeps its time, unless it is given a slot,
// which is later.
func (c *verdict) judgeHop(due *time.Time, end simEnding) {
	h := &end.fate.Headers
	if end.fate.Ending == schedule.Hopped && !c.life.kills() && !c.life.skewed {
		early := due.Sub(h.Due)
		limit := h.FirstAttempt.Add(c.life.plan.window)
		if early > time.Millisecond && limit.Sub(h.Due) > c.life.plan.delays[0] || early < -time.Millisecond && !h.Reserved {
			c.errorf("put back for another time, %s earlier", early)
		}
	}
	*due = h.Due
}

// before is the attempt that led to an ending.
func (c *verdict) before(end simEnding) *simAttempt {
	var found *simAttempt
	for i := range c.log {
		if a := &c.log[i]; a.member == end.member && !a.began.Add(a.took).After(end.at) {
			found = a
		}
	}
	return found
}

// judgeOnce: without a kill there is one end, and nothing comes too early or after
// it.
func (c *verdict) judgeOnce() {
	if c.taken+c.dead != 1 {
		c.errorf("delivered %d times, dead %d times", c.taken, c.dead)
	}
	if most := 25; c.life.usual && c.attempts > most {
		c.errorf("%d attempts, expected %d at most", c.attempts, most)
	}
	for i, a := range c.log {
		if a.outcome.Verdict == outcome.Delivered && i < len(c.log)-1 {
			c.errorf("attempted after it was delivered")
		}
		if c.life.skewed {
			continue
		}
		for _, end := range c.ends {
			if end.at.Before(a.began) && end.fate.Headers.Due.Sub(a.began) > time.Millisecond && !c.anotherEnd(end.at, a.began) {
				c.errorf("attempted %s before it was due", end.fate.Headers.Due.Sub(a.began))
			}
		}
	}
}

func (c *verdict) anotherEnd(after, before time.Time) bool {
	return slices.ContainsFunc(c.ends, func(e simEnding) bool { return e.at.After(after) && !e.at.After(before) })
}

// judgeOwed goes through the answers that the event got: which endpoints it was
// still owed to at each attempt, and whether it was given up rightly.
func (c *verdict) judgeOwed() {
	owed := make(map[string]bool)
	for i := range c.life.plan.destinations[c.event.destination] {
		owed[simHost(c.event.destination, i)] = true
	}
	for _, a := range c.log {
		if a.outcome.Verdict == outcome.Withheld {
			continue
		}
		delivered := false
		for _, p := range c.posts {
			if p.at.Before(a.began) || p.at.After(a.began.Add(a.took)) {
				continue
			}
			if !owed[p.host] {
				c.errorf("repeated at %s, which had given its final answer", p.host)
			}
			delivered = delivered || p.ok
			if strings.HasPrefix(p.text, fmt.Sprint("HTTP/1.1 ", http.StatusGone)) || strings.HasPrefix(p.text, fmt.Sprint("HTTP/1.1 ", http.StatusFound)) {
				delete(owed, p.host)
			}
		}
		if delivered != (a.outcome.Verdict == outcome.Delivered) {
			c.errorf("verdict %d, delivered %t", a.outcome.Verdict, delivered)
		}
	}
	c.judgeDead(owed)
}

func (c *verdict) judgeDead(owed map[string]bool) {
	switch {
	case c.dead == 0:
	case len(owed) == 0:
		if c.reason != schemas.ReasonStatus4xx && c.reason != schemas.ReasonStatus3xx {
			c.errorf("dead for %s, expected the final status", c.reason)
		}
	case c.reason != schemas.ReasonWindowExceeded:
		c.errorf("dead for %s, owed to %v", c.reason, owed)
	default:
		c.judgeLastChance()
	}
}

// judgeLastChance: an event whose window was exceeded had an attempt that late that
// the next one might have come after the window's end, if there was a slot for it.
func (c *verdict) judgeLastChance() {
	if c.life.skewed || c.life.crowded {
		return
	}
	delays := c.life.plan.delays
	last := 30 * time.Minute
	if !c.life.usual {
		last = time.Duration(1.25*float64(delays[len(delays)-1])) + time.Minute
	}
	if left := c.begun.Add(c.life.plan.window).Sub(c.tried); left > last {
		c.errorf("dead, with the last attempt %s before the window's end", left)
	}
}
