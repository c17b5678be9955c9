package testsend

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/http1"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
	"github.com/anabranch/anabranch/webhook-sink/internal/redact"
)

// Sender makes test deliveries. It may be used by many goroutines. Make it with [New].
type Sender struct {
	client *post.Client
	bodies body.Builder
}

// New returns a sender that does as a sink with these settings, and whose endpoints may live
// at some single addresses too. Its only errors are about files that the settings name.
func New(cfg config.Config, peers ...netip.AddrPort) (*Sender, error) {
	options := attempt.OptionsOf(&cfg, peers...)
	client, err := attempt.NewClient(&options, http1.Everything)
	if err != nil {
		return nil, err
	}
	return &Sender{client: client}, nil
}

// Close gives up idle connections.
func (s *Sender) Close() { s.client.Close() }

// Report is what came of a test.
type Report struct {
	Destination string     `json:"destination"`
	MessageID   string     `json:"messageId"`
	Body        string     `json:"body"` // as it was sent
	Disabled    bool       `json:"disabled,omitempty"`
	Deliveries  []Delivery `json:"deliveries"`
}

// Delivery is what came of it at one endpoint.
type Delivery struct {
	Endpoint  int     `json:"endpoint"` // from 1
	URL       string  `json:"url"`      // without secrets
	Request   []Field `json:"request"`
	Response  []Field `json:"response"`         // empty: there was none
	Answer    string  `json:"answer"`           // how its body begins
	MS        int64   `json:"ms"`               // until the answer was there
	Verdict   string  `json:"verdict"`          // what would become of an event
	Reason    string  `json:"reason,omitempty"` // as in dead letters and metrics
	Delivered bool    `json:"delivered"`
}

// Field is one line of a head; the first line has no name.
type Field = redact.Field

// Delivered reports whether each endpoint took the event.
func (r *Report) Delivered() bool {
	for i := range r.Deliveries {
		if !r.Deliveries[i].Delivered {
			return false
		}
	}
	return true
}

// errSealed is about a workspace that was read without its key.
var errSealed = errors.New("the secrets of the destination can't be decrypted here: set SECRETS_KEY to what the webhook sink has")

// Send sends an event, as it stands on raw-events, to the endpoints of a destination side by
// side; to one of them where only is its position, from 1. It returns when all have answered,
// or have not in time.
func (s *Sender) Send(ctx context.Context, d *workspace.Destination, only int, event []byte) (*Report, error) {
	switch {
	case !d.Is(workspace.TypeWebhooks):
		return nil, fmt.Errorf("destination %s: expected one of type %s, found %s", d.ID, workspace.TypeWebhooks, d.Type)
	case only < 0 || only > len(d.Endpoints):
		return nil, fmt.Errorf("endpoint %d: expected 1 to %d, the endpoints of %s", only, len(d.Endpoints), d.ID)
	case d.Sealed():
		return nil, fmt.Errorf("destination %s: %w", d.ID, errSealed)
	}
	content, err := s.bodies.Append(nil, event)
	if err != nil {
		return nil, err
	}
	report := &Report{Destination: d.ID, MessageID: body.MessageID(content), Body: string(content), Disabled: !d.Enabled}
	signature := post.NewSigner(d.SharedSecret).Sign(content)
	for i := range d.Endpoints {
		if only == 0 || only == i+1 {
			report.Deliveries = append(report.Deliveries, Delivery{Endpoint: i + 1})
		}
	}
	var sending sync.WaitGroup
	for i := range report.Deliveries {
		one := &report.Deliveries[i]
		sending.Go(func() { s.deliver(ctx, one, d, content, signature) })
	}
	sending.Wait()
	return report, ctx.Err()
}

func (s *Sender) deliver(ctx context.Context, one *Delivery, d *workspace.Destination, content []byte, signature string) {
	e := d.Endpoints[one.Endpoint-1]
	one.URL = e.SafeURL()
	target, err := post.NewTarget(e)
	if err != nil {
		one.tell(&outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonAddressRefused, Detail: err.Error()})
		return
	}
	one.Request = redact.Request(target.Head(content, signature), e)
	began := time.Now()
	o := s.client.Post(ctx, target, content, signature)
	one.MS = time.Since(began).Milliseconds()
	one.tell(&o)
	if o.Answer != nil {
		secrets := redact.Of(d.SharedSecret, e)
		one.Response = redact.Fields(secrets.Remove(o.Answer.Head))
		one.Answer = string(secrets.Remove(o.Answer.Body))
	}
}

func (d *Delivery) tell(o *outcome.Outcome) {
	d.Verdict, d.Reason, d.Delivered = verdict(o), string(o.Reason), o.Verdict == outcome.Delivered
}

// verdict says what would become of an event.
func verdict(o *outcome.Outcome) (says string) {
	switch o.Verdict {
	case outcome.Delivered:
		return "delivered"
	case outcome.Retry:
		says = "would be retried: " + o.Detail
	case outcome.Dead:
		says = "would become a dead letter: " + o.Detail
	default:
		return "interrupted before there was an answer"
	}
	if o.Reason == schemas.ReasonAddressRefused {
		says = "refused by the guard of addresses: " + o.Detail
	}
	if o.RetryAfter > 0 {
		says += fmt.Sprintf("; it asks to be left alone for %s", o.RetryAfter)
	}
	if o.Cause != "" {
		says += " (" + o.Cause + ")"
	}
	return says
}
