package attempt

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// plan is what an attempt needs of a destination, made once per version of it:
// parsed URLs, header values, the keyed signer.
type plan struct {
	dest      *workspace.Destination // the version that the plan was made of
	signer    *post.Signer           // nil: deliveries are not signed
	endpoints []*endpoint            // in the destination's order
}

type endpoint struct {
	*health
	configured  workspace.Endpoint
	target      *post.Target // nil when the URL can't be used
	unusable    post.Result  // what comes of a POST then
	fingerprint uint64
	position    int // from 1
	of          int
}

// health is what attempts have learned of an endpoint. It outlives edits of its
// destination, for as long as the URL is the same.
type health struct {
	breaker *breaker.Breaker
	failing atomic.Pointer[post.Result] // the last failure; nil before the first
	forced  atomic.Int32                // attempts in flight although it is down
}

// plans keeps the latest plan of each destination. It has an entry for every id
// that had an attempt since the process started, which edits by people bound.
type plans struct {
	byID    sync.Map // destination id -> *plan
	breaker func() *breaker.Breaker
	// forgotten is told of an endpoint that was down when it was edited away.
	forgotten func(destination string)
}

// of returns the plan of a destination. Snapshots are immutable, so a plan made
// of the same pointer still holds. Two goroutines that hold different versions
// during a change make plans in turn, which is only work.
func (p *plans) of(dest *workspace.Destination) *plan {
	known, _ := p.byID.Load(dest.ID)
	before, _ := known.(*plan)
	if before != nil && before.dest == dest {
		return before
	}
	made := p.make(dest, before)
	if before == nil {
		p.byID.LoadOrStore(dest.ID, made)
	} else if p.byID.CompareAndSwap(dest.ID, before, made) {
		p.compare(before, made)
	}
	return made
}

// compare tells of endpoints that are down and no longer there.
func (p *plans) compare(before, made *plan) {
	for _, e := range before.endpoints {
		if made.find(e.fingerprint) == nil && e.breaker.State() != breaker.Closed {
			p.forgotten(made.dest.ID)
		}
	}
}

func (p *plans) make(dest *workspace.Destination, before *plan) *plan {
	made := &plan{dest: dest, signer: post.NewSigner(dest.SharedSecret)}
	for i, configured := range dest.Endpoints {
		e := &endpoint{configured: configured, fingerprint: configured.Fingerprint(), position: i + 1, of: len(dest.Endpoints)}
		if old := before.find(e.fingerprint); old != nil {
			e.keep(old)
		} else {
			e.health = &health{breaker: p.breaker()}
		}
		if e.target == nil {
			e.prepare()
		}
		made.endpoints = append(made.endpoints, e)
	}
	return made
}

// keep takes over what is known of an endpoint, and its connections too unless its
// headers were edited.
func (e *endpoint) keep(old *endpoint) {
	e.health = old.health
	if slices.Equal(e.configured.Headers, old.configured.Headers) {
		e.target = old.target
	}
}

func (e *endpoint) prepare() {
	target, err := post.NewTarget(e.configured)
	if err != nil {
		e.unusable = post.Result{Verdict: post.Dead, Reason: schemas.ReasonAddressRefused, Detail: "URL of the endpoint can't be used"}
	}
	e.target = target
}

// find returns the endpoint with a fingerprint; nil when there is none, as in a
// plan that is nil.
func (p *plan) find(fingerprint uint64) *endpoint {
	if p != nil {
		for _, e := range p.endpoints {
			if e.fingerprint == fingerprint {
				return e
			}
		}
	}
	return nil
}

// choose returns the endpoints with the given fingerprints. When none of them is
// configured any more it returns all, as it does for no fingerprints: the list
// was edited between two attempts, and the event is owed to the new one.
func (p *plan) choose(only []uint64) []*endpoint {
	if len(only) == 0 {
		return p.endpoints
	}
	var chosen []*endpoint
	for _, e := range p.endpoints {
		if slices.Contains(only, e.fingerprint) {
			chosen = append(chosen, e)
		}
	}
	if len(chosen) == 0 {
		return p.endpoints
	}
	return chosen
}
