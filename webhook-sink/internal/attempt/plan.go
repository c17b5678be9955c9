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
	target      *post.Target // nil when the URL can't be used
	unusable    post.Result  // what comes of a POST then
	fingerprint uint64
	position    int // from 1
	of          int
}

// health is what attempts have learned of an endpoint. It outlives edits of its
// destination, for as long as the endpoint itself is not edited.
type health struct {
	breaker *breaker.Breaker
	failing atomic.Pointer[post.Result] // the last failure; nil before the first
}

// plans keeps the latest plan of each destination. It has an entry for every id
// that had an attempt since the process started, which edits by people bound.
type plans struct {
	byID    sync.Map // destination id -> *plan
	breaker func() *breaker.Breaker
}

// of returns the plan of a destination. Snapshots are immutable, so a plan made
// of the same pointer still holds; two goroutines that hold different versions
// during a change make each other's plan anew, which is only work.
func (p *plans) of(dest *workspace.Destination) *plan {
	known, _ := p.byID.Load(dest.ID)
	before, _ := known.(*plan)
	if before != nil && before.dest == dest {
		return before
	}
	made := p.make(dest, before)
	p.byID.Store(dest.ID, made)
	return made
}

func (p *plans) make(dest *workspace.Destination, before *plan) *plan {
	made := &plan{dest: dest, signer: post.NewSigner(dest.SharedSecret)}
	for i, configured := range dest.Endpoints {
		e := &endpoint{fingerprint: configured.Fingerprint(), position: i + 1, of: len(dest.Endpoints)}
		if e.health = before.health(e.fingerprint); e.health == nil {
			e.health = &health{breaker: p.breaker()}
		}
		target, err := post.NewTarget(configured)
		if err != nil {
			e.unusable = post.Result{Verdict: post.Dead, Reason: schemas.ReasonAddressRefused, Detail: "URL of the endpoint can't be used"}
		}
		e.target = target
		made.endpoints = append(made.endpoints, e)
	}
	return made
}

// health returns what is known of an endpoint, nil when nothing is.
func (p *plan) health(fingerprint uint64) *health {
	if p != nil {
		for _, e := range p.endpoints {
			if e.fingerprint == fingerprint {
				return e.health
			}
		}
	}
	return nil
}

// choose returns the endpoints with the given fingerprints. When none of them is
// configured any more it returns all, as it does for no fingerprints: the list
// was edited between two attempts, and the event is owed to the new one.
func (p *plan) choose(only []uint64) []*endpoint {
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
