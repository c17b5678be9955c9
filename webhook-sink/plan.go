package webhooksink

import (
	"slices"
	"sync"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
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
	target      *post.Target // nil when the URL can't be used
	unusable    post.Result  // what comes of a POST then
	fingerprint uint64
	position    int // from 1
	of          int
}

// plans keeps the latest plan of each destination. It has an entry for every id
// that had an attempt since the process started, which edits by people bound.
type plans struct {
	byID sync.Map // destination id -> *plan
}

// of returns the plan of a destination. Snapshots are immutable, so a plan made
// of the same pointer still holds; two goroutines that hold different versions
// during a change make each other's plan anew, which is only work.
func (p *plans) of(dest *workspace.Destination) *plan {
	if known, ok := p.byID.Load(dest.ID); ok {
		if made, ok := known.(*plan); ok && made.dest == dest {
			return made
		}
	}
	made := newPlan(dest)
	p.byID.Store(dest.ID, made)
	return made
}

func newPlan(dest *workspace.Destination) *plan {
	p := &plan{dest: dest, signer: post.NewSigner(dest.SharedSecret)}
	for i, configured := range dest.Endpoints {
		e := &endpoint{fingerprint: configured.Fingerprint(), position: i + 1, of: len(dest.Endpoints)}
		target, err := post.NewTarget(configured)
		if err != nil {
			e.unusable = post.Result{Verdict: dead, Reason: schemas.ReasonAddressRefused, Detail: "URL of the endpoint can't be used"}
		}
		e.target = target
		p.endpoints = append(p.endpoints, e)
	}
	return p
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
