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
// try. When none may, it returns the first moment at which one may; but a last
// attempt is made in any case.
func (t *trial) admit(chosen []*endpoint, last bool, now time.Time) (until time.Time) {
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
	case !last:
		return until
	}
	for i := range t.calls {
		t.calls[i].permit = breaker.Granted
	}
	return time.Time{}
}

// giveBack returns permits that were not used.
func (t *trial) giveBack() {
	for i := range t.calls {
		t.calls[i].endpoint.breaker.Abandoned(t.calls[i].permit)
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
	if e.target != nil {
		r.Result = a.client.Post(ctx, e.target, t.content, signature)
	}
	a.learn(ctx, destination, &t.calls[i], r)
	switch r.Verdict {
	case post.Abandoned:
	case post.Delivered:
		a.observe.Posted(destination, OutcomeDelivered)
	case post.Retry, post.Dead:
		a.observe.Posted(destination, string(r.Reason))
		a.log.failed(ctx, destination, r)
	}
}

// learn tells the endpoint's breaker how a POST ended. Whoever answers lives,
// even if it is to refuse the event for good.
func (a *Attempter) learn(ctx context.Context, destination string, c *call, r *result) {
	b := c.endpoint.breaker
	var opened, closed bool
	switch r.Verdict {
	case post.Abandoned:
		b.Abandoned(c.permit)
	case post.Delivered, post.Dead:
		closed = b.Succeeded(c.permit, time.Now())
	case post.Retry:
		failure := r.Result // r is reused
		c.endpoint.failing.Store(&failure)
		opened = b.Failed(c.permit, r.RetryAfter, time.Now())
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
