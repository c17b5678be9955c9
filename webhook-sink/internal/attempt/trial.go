package attempt

import (
	"context"
	"sync"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// trial is one attempt under way: what is sent, to whom, and what comes of it.
type trial struct {
	content []byte
	calls   []call
	results []result // of the calls, in their order
}

// call is the part of an attempt that concerns one endpoint.
type call struct {
	endpoint *endpoint
	permit   breaker.Permit
	forced   bool // although the endpoint is down
}

// trials are reused: nobody holds on to a body when the POSTs it went to have
// ended.
var trials = sync.Pool{New: func() any { return new(trial) }}

func (t *trial) put() {
	clear(t.calls)
	clear(t.results)
	t.calls, t.results = t.calls[:0], t.results[:0]
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
		t.results = append(t.results, result{fingerprint: e.fingerprint, position: e.position, of: e.of})
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
func (t *trial) withheld(until time.Time) Outcome {
	r := &t.results[0]
	r.Result = t.calls[0].endpoint.leftOut()
	return Outcome{Verdict: Withheld, Until: until, Reason: r.Reason, Detail: r.describe()}
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

// sendAll makes the POSTs of an attempt side by side, the last of them on the
// caller's goroutine, and waits for them all.
func (a *Attempter) sendAll(ctx context.Context, destination string, t *trial, signature string) {
	own := -1
	var others sync.WaitGroup
	for i := range t.calls {
		if t.calls[i].permit == breaker.Refused {
			a.observe.LeftOut(destination)
			t.results[i].Result = t.calls[i].endpoint.leftOut()
			continue
		}
		if before := own; before >= 0 {
			others.Go(func() { a.send(ctx, destination, t, before, signature) })
		}
		own = i
	}
	if own >= 0 {
		a.send(ctx, destination, t, own, signature)
	}
	others.Wait()
}

// send makes the POST to the i-th endpoint.
func (a *Attempter) send(ctx context.Context, destination string, t *trial, i int, signature string) {
	e, r := t.calls[i].endpoint, &t.results[i]
	r.Result = e.unusable
	began := time.Now()
	span := a.trace.Post(ctx, destination, e.position)
	if e.target != nil {
		r.Result = a.client.Post(span.In(ctx), e.target, t.content, signature)
	}
	describe(span, e, r)
	if t.calls[i].forced {
		e.forced.Add(-1)
	}
	a.learn(ctx, destination, &t.calls[i], r, began)
	switch r.Verdict {
	case post.Abandoned:
	case post.Delivered:
		a.observe.Posted(destination, OutcomeDelivered)
	case post.Retry, post.Dead:
		a.observe.Posted(destination, string(r.Reason))
		a.log.failed(ctx, destination, r, t.content)
	}
}

// learn tells the endpoint's breaker how a POST ended. Whoever answers lives,
// even if it is to refuse the event for good.
func (a *Attempter) learn(ctx context.Context, destination string, c *call, r *result, began time.Time) {
	b, now := c.endpoint.breaker, time.Now()
	var opened, closed bool
	switch r.Verdict {
	case post.Abandoned:
		b.Abandoned(c.permit)
	case post.Delivered, post.Dead:
		closed = b.Succeeded(c.permit, now)
	case post.Retry:
		failure := r.Result // r is reused
		c.endpoint.failing.Store(&failure)
		opened = b.Failed(c.permit, price(r, now.Sub(began)), now)
	}
	switch {
	case opened:
		a.observe.Down(destination, +1)
		a.log.down(ctx, destination, r)
	case closed:
		a.observe.Down(destination, -1)
		a.log.up(ctx, destination, r)
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
func price(r *result, took time.Duration) time.Duration {
	const (
		answering = 20 * time.Millisecond
		silent    = 3 * time.Second
	)
	if r.Reason == schemas.ReasonStatus5xx || r.Reason == schemas.ReasonStatus4xx {
		return max(2*took, answering)
	}
	return max(10*took, silent)
}

// leftOut is the result at an endpoint that is down and was not asked: what it
// failed of when it was asked last.
func (e *endpoint) leftOut() post.Result {
	r := post.Result{Reason: schemas.ReasonNetwork}
	if last := e.failing.Load(); last != nil {
		r = *last
	}
	r.Verdict, r.RetryAfter = post.Retry, 0
	return r
}
