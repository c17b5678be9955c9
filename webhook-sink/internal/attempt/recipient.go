package attempt

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/endpoints"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
	"github.com/anabranch/anabranch/webhook-sink/internal/redact"
)

// recipient is a destination made ready for attempts, once per version of it:
// parsed URLs, header values, the keyed signer.
type recipient struct {
	dest      *workspace.Destination // the version that it was made of
	signer    *post.Signer           // nil: deliveries are not signed
	endpoints []*endpoint            // in the destination's order
	locked    bool                   // its secrets are sealed, so nothing may be sent
}

type endpoint struct {
	*health
	configured  workspace.Endpoint
	target      *post.Target    // nil when the URL can't be used
	unusable    outcome.Outcome // what comes of a POST then
	fingerprint uint64
	secrets     func() *redact.Secrets // found out once something is to be kept of an answer
	position    int                    // from 1
	of          int
}

// health is what attempts have learned of an endpoint. It outlives edits of its
// destination, for as long as the URL is the same.
type health struct {
	breaker *breaker.Breaker
	failing atomic.Pointer[outcome.Outcome] // the last failure; nil before the first
	forced  atomic.Int32                    // attempts in flight although it is down
	record  endpoints.Record
}

// recipients keeps the latest version of each destination. It has an entry for every
// id that had an attempt since the process started, which edits by people bound.
type recipients struct {
	byID    sync.Map // destination id -> *recipient
	breaker func() *breaker.Breaker
	// forgotten is told of an endpoint that was down when it was edited away.
	forgotten func(destination string)
}

// of returns the recipient of a destination. Snapshots are immutable, so one made
// of the same pointer still holds. Two goroutines that hold different versions
// during a change make theirs in turn, which is only work.
func (r *recipients) of(dest *workspace.Destination) *recipient {
	known, _ := r.byID.Load(dest.ID)
	before, _ := known.(*recipient)
	if before != nil && before.dest == dest {
		return before
	}
	made := r.make(dest, before)
	if before == nil {
		r.byID.LoadOrStore(dest.ID, made)
	} else if r.byID.CompareAndSwap(dest.ID, before, made) {
		r.compare(before, made)
	}
	return made
}

// compare tells of endpoints that are down and no longer there.
func (r *recipients) compare(before, made *recipient) {
	for _, e := range before.endpoints {
		if made.find(e.fingerprint) == nil && e.breaker.State() != breaker.Closed {
			r.forgotten(made.dest.ID)
		}
	}
}

func (r *recipients) make(dest *workspace.Destination, before *recipient) *recipient {
	made := &recipient{dest: dest, signer: post.NewSigner(dest.SharedSecret), locked: dest.Sealed()}
	for i, configured := range dest.Endpoints {
		e := &endpoint{configured: configured, fingerprint: configured.Fingerprint(), position: i + 1, of: len(dest.Endpoints)}
		e.secrets = sync.OnceValue(func() *redact.Secrets { return redact.Of(dest.SharedSecret, configured) })
		if old := before.find(e.fingerprint); old != nil {
			e.keep(old)
		} else {
			e.health = &health{breaker: r.breaker()}
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
		e.unusable = outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonAddressRefused, Detail: "URL of the endpoint can't be used"}
	}
	e.target = target
}

// find returns the endpoint with a fingerprint; nil when there is none, as in a
// recipient that is nil.
func (r *recipient) find(fingerprint uint64) *endpoint {
	if r != nil {
		for _, e := range r.endpoints {
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
func (r *recipient) choose(only []uint64) []*endpoint {
	if len(only) == 0 {
		return r.endpoints
	}
	var chosen []*endpoint
	for _, e := range r.endpoints {
		if slices.Contains(only, e.fingerprint) {
			chosen = append(chosen, e)
		}
	}
	if len(chosen) == 0 {
		return r.endpoints
	}
	return chosen
}

// Breakers counts the endpoints that were tried since the start, and are still
// configured as far as attempts have shown, by the state of their breaker.
func (a *Attempter) Breakers() breaker.Counts {
	var count breaker.Counts
	a.recipients.byID.Range(func(_, known any) bool {
		if r, ok := known.(*recipient); ok {
			for _, e := range r.endpoints {
				count[e.breaker.State()]++
			}
		}
		return true
	})
	return count
}
