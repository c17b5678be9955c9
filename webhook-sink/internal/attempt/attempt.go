// Package attempt makes attempts: one POST to each endpoint of a destination, and
// one outcome of them all. It remembers which endpoints are down and leaves those
// alone until it is time to look again.
package attempt

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"net/url"
	"time"

	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/answers"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// Options are what an Attempter is made of.
type Options struct {
	Timeout time.Duration   // of each POST, from dial to response headers
	Idle    int             // idle connections kept per endpoint: the in-flight limit of a destination is right
	Guard   *guard.Guard    // of addresses
	Proxy   *url.URL        // of WEBHOOK_SINK_PROXY; nil: none
	HTTPS   bool            // WEBHOOK_SINK_HTTPS_ONLY
	ExtraCA string          // WEBHOOK_SINK_EXTRA_CA_FILE; empty: the system's roots alone
	Dial    post.DialFunc   // for tests with a virtual network; nil: the real one, guarded
	Breaker breaker.Options // of each endpoint
	Answers *answers.Book   // of endpoints that refuse or fail; nil: they are not kept
	Logger  *slog.Logger
	Observe Observer
	Trace   *trace.Tracer // nil: tracing is off
}

// OptionsOf returns what settings come to, for endpoints that may be at some single addresses
// too.
func OptionsOf(c *config.Config, peers ...netip.AddrPort) Options {
	return Options{
		Timeout: c.Timeout,
		Idle:    c.MaxInFlight,
		Guard:   c.Guard(peers...).WithOwn(guard.Own()),
		Proxy:   c.Via(),
		HTTPS:   c.HTTPSOnly,
		ExtraCA: c.ExtraCAFile,
		Breaker: config.Breaker(c.RetryDelays),
	}
}

// Observer is told of what attempts do. It is called by several goroutines.
type Observer interface {
	// Posted: a POST ended with a verdict; label is that of its [outcome.Outcome].
	Posted(destination, label string)
	// LeftOut: an endpoint was left out of an attempt, since it is down.
	LeftOut(destination string)
	// Down: so many more of a destination's endpoints are down (less, if negative).
	Down(destination string, more int)
}

// Attempter makes attempts. It may be used by many goroutines.
type Attempter struct {
	client     *post.Client
	bodies     body.Builder
	recipients recipients
	log        failureLog
	answers    *answers.Book
	observe    Observer
	trace      *trace.Tracer
	// forced is how many last attempts go to an endpoint that is down at a time. If
	// it hangs, each holds a slot for seconds, and there may be as many as events.
	forced int32
}

// NewClient returns what makes the POSTs of an Attempter with these options, and keeps of
// answers what it is told to. Its only errors are about the file of roots.
func NewClient(opts *Options, keep http1.Keep) (*post.Client, error) {
	client := post.Options{
		Timeout: opts.Timeout,
		Idle:    opts.Idle,
		Guard:   opts.Guard,
		Proxy:   opts.Proxy,
		HTTPS:   opts.HTTPS,
		Dial:    opts.Dial,
		Keep:    keep,
	}
	if opts.ExtraCA != "" {
		roots, err := post.LoadRoots(opts.ExtraCA)
		if err != nil {
			return nil, fmt.Errorf("WEBHOOK_SINK_EXTRA_CA_FILE=%s: expected a file of PEM certificates: %w", opts.ExtraCA, err)
		}
		client.Roots = roots
	}
	return post.NewClient(client), nil
}

// New returns an Attempter. Its only errors are about the file of roots.
func New(opts Options) (*Attempter, error) {
	keep := http1.Nothing
	if opts.Answers != nil {
		keep = http1.Failures
	}
	client, err := NewClient(&opts, keep)
	if err != nil {
		return nil, err
	}
	return &Attempter{
		client: client,
		recipients: recipients{
			breaker:   func() *breaker.Breaker { return breaker.New(opts.Breaker, rand.Float64) },
			forgotten: func(destination string) { opts.Observe.Down(destination, -1) },
		},
		log:     failureLog{log: opts.Logger},
		answers: opts.Answers,
		observe: opts.Observe,
		trace:   opts.Trace,
		forced:  int32(max(opts.Idle/16, 1)),
	}, nil
}

// Close gives up idle connections. Attempts that run are the caller's to wait for.
func (a *Attempter) Close() { a.client.Close() }

// lockedPause is the least that an event waits whose destination's secrets are locked:
// people have to mend it.
const lockedPause = 5 * time.Second

// Attempt delivers an event, the value of a record, to the endpoints of dest that
// only names, or to all of them when it names none that is still configured. It
// ends when every endpoint has ended, so that the order of events holds at each
// of them. First attempts and repeats are this same function.
//
// Endpoints that are down are left out, and count as worth another try. When that
// would leave nobody, the attempt is withheld. The last of an event is made all the
// same, but only some at a time. To a destination whose secrets are still sealed no
// attempt is made at all.
//
// A ctx that is done means shutdown: no request is started any more, those in
// flight are cut short, and the verdict is Abandoned unless an endpoint had
// already taken the event. To let requests in flight finish, pass a context that
// shutdown does not end.
func (a *Attempter) Attempt(ctx context.Context, dest *workspace.Destination, only []uint64, event []byte, last bool) outcome.Outcome {
	to := a.recipients.of(dest)
	if to.locked {
		// Not even a last attempt: it would go out without its signature or its headers.
		a.observe.LeftOut(dest.ID)
		return outcome.Outcome{
			Verdict: outcome.Withheld, Until: time.Now().Add(lockedPause),
			Reason: schemas.ReasonSecretsLocked, Detail: "secrets of the destination can't be decrypted",
		}
	}
	chosen := to.choose(only)
	t, _ := trials.Get().(*trial)
	defer t.put()
	forced := int32(0)
	if last {
		forced = a.forced
	}
	if until := t.admit(chosen, forced, time.Now()); !until.IsZero() {
		a.observe.LeftOut(dest.ID)
		o := t.withheld(until)
		o.Partial = len(chosen) < len(to.endpoints)
		return o
	}
	var err error
	if t.content, err = a.bodies.Append(t.content[:0], event); err != nil {
		t.giveBack()
		return outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonRecordInvalid, Detail: "event can't be read"}
	}
	a.sendAll(ctx, dest.ID, t, to.signer.Sign(t.content))
	o := fold(t.calls)
	o.Asked = t.asked()
	return o
}
