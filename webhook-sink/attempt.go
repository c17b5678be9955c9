package webhooksink

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// outcomeDelivered is the outcome label of a POST that was answered 2xx; of all
// others it is the reason.
const outcomeDelivered = "delivered"

// attemptOptions are the settings of an attempter.
type attemptOptions struct {
	timeout time.Duration // of each POST, from dial to response headers
	idle    int           // idle connections kept per host: the in-flight limit of a destination is right
	allow   []netip.Prefix
	peers   []netip.AddrPort // single addresses allowed beside those networks
	extraCA string           // WEBHOOK_SINK_EXTRA_CA_FILE; empty: the system's roots alone
	dial    post.DialFunc    // for tests with a virtual network; nil: the real one, guarded
	logger  *slog.Logger

	// observe is told of every POST that ended with a verdict; outcome is
	// outcomeDelivered or a schemas.Reason. It is called by several goroutines.
	observe func(destination, outcome string)
}

// attempter makes attempts: one POST to each endpoint of a destination. It may be
// used by many goroutines.
type attempter struct {
	client  *post.Client
	bodies  body.Builder
	plans   plans
	log     failureLog
	observe func(destination, outcome string)
}

// newAttempter returns an attempter. Its only errors are about the file of roots.
func newAttempter(opts attemptOptions) (*attempter, error) {
	client := post.Options{
		Timeout: opts.timeout,
		Idle:    opts.idle,
		Guard:   guard.New(opts.allow, opts.peers...),
		Dial:    opts.dial,
	}
	if opts.extraCA != "" {
		roots, err := post.LoadRoots(opts.extraCA)
		if err != nil {
			return nil, fmt.Errorf("WEBHOOK_SINK_EXTRA_CA_FILE=%s: expected a file of PEM certificates: %w", opts.extraCA, err)
		}
		client.Roots = roots
	}
	return &attempter{
		client:  post.NewClient(client),
		log:     failureLog{log: opts.logger},
		observe: opts.observe,
	}, nil
}

// close gives up idle connections. Attempts that run are the caller's to wait for.
func (a *attempter) close() { a.client.Close() }

// attempt delivers an event, the value of a record, to the endpoints of dest that
// only names, or to all of them when it names none that is still configured. It
// ends when every endpoint has ended, so that the order of events holds at each
// of them. First attempts and repeats are this same function.
//
// A ctx that is done means shutdown: no request is started any more, those in
// flight are cut short, and the verdict is abandoned unless an endpoint had
// already taken the event. To let requests in flight finish, pass a context that
// shutdown does not end.
func (a *attempter) attempt(ctx context.Context, dest *workspace.Destination, only []uint64, event []byte) outcome {
	// Not pooled: net/http may read a request's body after its answer has come.
	content, err := a.bodies.Append(make([]byte, 0, len(event)+body.Overhead), event)
	if err != nil {
		return outcome{verdict: dead, reason: schemas.ReasonRecordInvalid, detail: "event can't be read"}
	}
	plan := a.plans.of(dest)
	chosen := plan.choose(only)
	results := make([]result, len(chosen))
	signature := plan.signer.Sign(content)
	var others sync.WaitGroup
	for i := 1; i < len(chosen); i++ {
		others.Go(func() { results[i] = a.post(ctx, dest.ID, chosen[i], content, signature) })
	}
	if len(chosen) > 0 {
		results[0] = a.post(ctx, dest.ID, chosen[0], content, signature)
	}
	others.Wait()
	return fold(results)
}

// post makes the POST to one endpoint.
func (a *attempter) post(ctx context.Context, destination string, e *endpoint, content []byte, signature string) result {
	r := result{fingerprint: e.fingerprint, position: e.position, of: e.of, Result: e.unusable}
	if e.target != nil {
		r.Result = a.client.Post(ctx, e.target, content, signature)
	}
	switch r.Verdict {
	case abandoned:
	case delivered:
		a.observe(destination, outcomeDelivered)
	case retry, dead:
		a.observe(destination, string(r.Reason))
		a.log.failed(ctx, destination, &r)
	}
	return r
}
