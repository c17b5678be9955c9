package attempt

import (
	"context"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/answers"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// trial is one attempt under way: what is sent, to whom, and what comes of it.
type trial struct {
	content []byte
	calls   []call // in the order of the destination's list
}

// call is the part of an attempt that concerns one endpoint.
type call struct {
	endpoint *endpoint
	permit   breaker.Permit
	forced   bool // although the endpoint is down
	outcome  outcome.Outcome
}

// trials are reused: nobody holds on to a body when the POSTs it went to have
// ended.
var trials = sync.Pool{New: func() any { return new(trial) }}

func (t *trial) put() {
	clear(t.calls)
	t.calls = t.calls[:0]
	trials.Put(t)
}

// admit asks the breakers which of the endpoints may be tried now. Those that may
// not are part of the attempt all the same: as a failure that is worth another
// try. When none may, so many attempts at a time are made all the same as forced
// says; for the others it returns the first moment at which an endpoint may be
// tried.
func (t *trial) admit(chosen []*endpoint, forced int32, now time.Time) (until time.Time) {
	granted := len(chosen) == 0
	for _, e := range chosen {
		permit, next := e.breaker.Admit(now)
		if permit != breaker.Refused {
			granted = true
		} else if until.IsZero() || next.Before(until) {
			until = next
		}
		t.calls = append(t.calls, call{endpoint: e, permit: permit})
	}
	switch {
	case granted:
		return time.Time{}
	case t.force(forced):
		return time.Time{}
	default:
		return until
	}
}

// force has the endpoints tried that are down, unless so many attempts are made
// there already, and reports whether that leaves any.
func (t *trial) force(most int32) bool {
	forced := false
	for i := range t.calls {
		c := &t.calls[i]
		if c.endpoint.forced.Add(1) > most {
			c.endpoint.forced.Add(-1)
			continue
		}
		c.permit, c.forced, forced = breaker.Granted, true, true
	}
	return forced
}

// withheld is the outcome when nobody may be tried: for the reason of the first.
func (t *trial) withheld(until time.Time) outcome.Outcome {
	c := &t.calls[0]
	c.outcome = c.endpoint.leftOut()
	return outcome.Outcome{Verdict: outcome.Withheld, Until: until, Reason: c.outcome.Reason, Detail: c.detail()}
}

// giveBack returns permits that were not used.
func (t *trial) giveBack() {
	for i := range t.calls {
		t.calls[i].endpoint.breaker.Abandoned(t.calls[i].permit)
		if t.calls[i].forced {
			t.calls[i].endpoint.forced.Add(-1)
		}
	}
}

// asked says which endpoints were sent something, the first in bit 0.
func (t *trial) asked() (bits uint8) {
	for i := range t.calls {
		if c := &t.calls[i]; c.permit != breaker.Refused && c.endpoint.target != nil {
			bits |= 1 << (c.endpoint.position - 1)
		}
	}
	return bits
}

// sendAll makes the POSTs of an attempt side by side, the last of them on the
// caller's goroutine, and waits for them all.
func (a *Attempter) sendAll(ctx context.Context, destination string, t *trial, signature string) {
	var own *call
	var others sync.WaitGroup
	for i := range t.calls {
		c := &t.calls[i]
		if c.permit == breaker.Refused {
			a.observe.LeftOut(destination)
			c.outcome = c.endpoint.leftOut()
			continue
		}
		if before := own; before != nil {
			others.Go(func() { a.send(ctx, destination, before, t.content, signature) })
		}
		own = c
	}
	if own != nil {
		a.send(ctx, destination, own, t.content, signature)
	}
	others.Wait()
}

// send makes the POST to one endpoint.
func (a *Attempter) send(ctx context.Context, destination string, c *call, content []byte, signature string) {
	e := c.endpoint
	c.outcome = e.unusable
	began := time.Now()
	span := a.trace.Post(ctx, destination, e.position)
	if e.target != nil {
		c.outcome = a.client.Post(span.In(ctx), e.target, content, signature)
	}
	if c.outcome.Answer != nil {
		a.keep(destination, c, content, began)
	}
	c.describe(span)
	if c.forced {
		e.forced.Add(-1)
	}
	a.learn(ctx, destination, c, began)
	if c.outcome.Verdict == outcome.Abandoned {
		return // which says nothing about the endpoint
	}
	e.record.Ended(time.Now(), time.Since(began), c.outcome.Verdict != outcome.Delivered)
	a.observe.Posted(destination, c.outcome.Label())
	if c.outcome.Verdict != outcome.Delivered {
		a.log.failed(ctx, destination, c, content)
	}
}

// keep keeps what an endpoint answered, but for the secrets of the endpoint.
func (a *Attempter) keep(destination string, c *call, content []byte, began time.Time) {
	said, now := c.outcome.Answer, time.Now()
	said.Body = c.endpoint.secrets().Remove(said.Body)
	a.answers.Keep(destination, c.endpoint.fingerprint, answers.Answer{
		At: now.UTC(), MessageID: body.MessageID(content), Status: said.Status, MS: now.Sub(began).Milliseconds(), Body: string(said.Body),
	})
}

// describe ends the span of a POST with where it went and how it ended. A URL is
// not shown: in all parts of it but the host there may be a secret.
func (c *call) describe(span trace.Span) {
	if !span.On() {
		return
	}
	if c.endpoint.target != nil {
		span.To(c.endpoint.target.Address())
	}
	if c.outcome.Verdict == outcome.Abandoned {
		span.Fail("abandoned", "interrupted by the shutdown of the process")
	} else {
		span.Say(trace.Outcome, c.outcome.Label())
		if c.outcome.Verdict != outcome.Delivered {
			span.Fail(string(c.outcome.Reason), c.outcome.Detail)
		}
	}
	span.End()
}

// learn tells the endpoint's breaker how a POST ended. Whoever answers lives,
// even if it is to refuse the event for good.
func (a *Attempter) learn(ctx context.Context, destination string, c *call, began time.Time) {
	b, now := c.endpoint.breaker, time.Now()
	var opened, closed bool
	switch c.outcome.Verdict {
	case outcome.Abandoned, outcome.None, outcome.Withheld:
		b.Abandoned(c.permit)
	case outcome.Delivered, outcome.Dead:
		closed = b.Succeeded(c.permit, now)
	case outcome.Retry:
		failure := c.outcome // the call is reused
		failure.Answer = nil // which is about one event alone
		c.endpoint.failing.Store(&failure)
		opened = b.Failed(c.permit, price(failure.Reason, now.Sub(began)), now)
	}
	switch {
	case opened:
		a.observe.Down(destination, +1)
		a.log.down(ctx, destination, c)
	case closed:
		a.observe.Down(destination, -1)
		a.log.up(ctx, destination, c)
	}
}

// price is how long an endpoint that is down is left alone at most after an attempt
// that took so long: what a probe costs decides how often one is worth it.
//
// One that answers lives, and may only dislike some events, or each of them at
// first: it gets one attempt after the other with half of the time between. To one
// that does not, and to nobody knows whom behind it, a tenth of the time goes.
//
// Its Retry-After is for the event that it answered. To hold back others for it
// would let each of them begin with a refusal of its own, one after the other.
func price(reason schemas.Reason, took time.Duration) time.Duration {
	const (
		answering = 20 * time.Millisecond
		silent    = 3 * time.Second
	)
	if reason == schemas.ReasonStatus5xx || reason == schemas.ReasonStatus4xx {
		return max(2*took, answering)
	}
	return max(10*took, silent)
}

// leftOut is the result at an endpoint that is down and was not asked: what it
// failed of when it was asked last.
func (e *endpoint) leftOut() outcome.Outcome {
	o := outcome.Outcome{Reason: schemas.ReasonNetwork}
	if last := e.failing.Load(); last != nil {
		o = *last
	}
	o.Verdict, o.RetryAfter = outcome.Retry, 0
	return o
}
