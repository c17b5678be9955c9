package ingest

import (
	"errors"
	"io"
	"net/http"
	"net/netip"
	"runtime"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/body"
	"github.com/anabranch/anabranch/ingest/internal/cors"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/limit"
	"github.com/anabranch/anabranch/ingest/internal/metrics"
	"github.com/anabranch/anabranch/ingest/internal/peer"
	"github.com/anabranch/anabranch/ingest/internal/plan"
	"github.com/anabranch/anabranch/ingest/internal/sdksettings"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/ingest/internal/writekey"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// handler serves the collection protocol.
type handler struct {
	workspace *workspace.Live
	trace     *trace.Tracer
	store     *store.Store
	metrics   *metrics.Metrics
	now       func() time.Time

	addresses    *peer.Addresses
	trustsNobody bool // of proxies
	badKeys      *limit.BadKeys
	rates        *limit.Sources
	plans        plan.Plans
	// suppressed tells the users of whom nothing may be stored; nil: there is
	// nobody who knows.
	suppressed func(userID []byte) bool

	publicHost string // under which SDKs reach it; "": as they say

	maxBatch int // bytes of a batch, decompressed
	bodies   body.Pool
	decoders decode.Pool
	slots    slots
}

func newHandler(cfg *Config, set *Settings, records *store.Store, counted *metrics.Metrics) *handler {
	return &handler{
		workspace:    set.Workspace,
		trace:        set.Trace,
		store:        records,
		metrics:      counted,
		now:          time.Now,
		addresses:    peer.New(cfg.TrustedProxies),
		trustsNobody: len(cfg.TrustedProxies) == 0,
		badKeys:      limit.NewBadKeys(cfg.BadKeysPerMinute),
		rates:        limit.NewSources(float64(cfg.RatePerSource)),
		suppressed:   set.Suppressed,
		publicHost:   cfg.PublicHost,
		maxBatch:     cfg.MaxBatchBytes,
		slots:        newSlots(runtime.GOMAXPROCS(0)),
	}
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodOptions {
		h.metrics.Preflight()
		cors.Preflight(w, r)
		return
	}
	cors.Allow(w.Header(), r)
	if of, key := sdksettings.Asked(r); of != sdksettings.None {
		h.serveSettings(w, r, of, key)
		return
	}
	o := metrics.Outcome{Client: h.addresses.Of(r), Read: time.Now()}
	if err := h.serve(w, r, &o); err != nil { //nolint:contextcheck // what is produced is detached from the request, see store.Put
		o.Problem = answer.Of(err)
	}
	h.metrics.Request(r.Context(), h.now(), &o)
	if r.ProtoMajor == 2 {
		h.drain(r)
	}
	answer.Write(w, o.Problem, o.Rejected)
	h.metrics.Answered(&o)
}

// drain reads what a refusal, or /v1/m, has left of the body. net/http resets an
// HTTP/2 stream whose body was not read, and curl loses the answer with it: to such
// a client a wrong key is a broken connection, which is tried again. For HTTP/1
// net/http reads some of the rest itself.
func (h *handler) drain(r *http.Request) {
	if most := int64(2 * h.maxBatch); r.ContentLength <= most {
		_, _ = io.CopyN(io.Discard, r.Body, most)
	}
}

// serve does what the request asks for and notes in o how far it came.
func (h *handler) serve(w http.ResponseWriter, r *http.Request, o *metrics.Outcome) error {
	if r.UserAgent() == schemas.UserAgent {
		return answer.OwnDelivery()
	}
	began := h.now()
	e, err := route(r)
	if err != nil || e.discards {
		return err
	}
	o.Doubled = e.doubled
	// Before the body is read: a wrong key, or brokers that are down, cost
	// nothing more.
	known, err := h.greet(r, o)
	if err != nil {
		return err
	}
	if err = h.store.Takes(); err != nil {
		return err
	}
	from := body.Sender{Addr: limit.Customer(o.Client), Known: known, Conn: http.NewResponseController(w)}
	batch, err := h.take(r, e, from, o)
	if err != nil || batch.Len() == 0 {
		return err
	}
	if wait, ok := h.rates.Take(o.Source, batch.Len(), h.now()); !ok {
		return answer.TooManyEvents(limit.Seconds(wait))
	}
	spans := h.follow(r, began, o.Source, &batch)
	err = h.store.Put(batch)
	spans.end(err)
	return err
}

// take reads the body and makes records of it, which do not hold on to it.
func (h *handler) take(r *http.Request, e endpoint, from body.Sender, o *metrics.Outcome) (store.Batch, error) {
	b := h.bodies.Get()
	defer h.bodies.Put(b)
	if err := b.Receive(r, h.limit(e), from); err != nil {
		return store.Batch{}, h.bodyProblem(e, err)
	}
	o.Read = time.Now()
	text, err := h.text(b)
	if err != nil {
		return store.Batch{}, h.bodyProblem(e, err)
	}
	defer h.slots.take(len(text))()
	if !from.Known && !writekey.Mentioned(text, h.isGood) {
		return store.Batch{}, h.authenticate("", o)
	}
	return h.decode(r, e, text, o)
}

// text inflates a body, if need be.
func (h *handler) text(b *body.Body) ([]byte, error) {
	defer h.slots.take(0)()
	return b.Text()
}

// limit is how many bytes a body may have, decompressed.
func (h *handler) limit(e endpoint) int {
	if e.batch() {
		return h.maxBatch
	}
	return schemas.MaxCallBytes
}

func (h *handler) bodyProblem(e endpoint, err error) error {
	switch {
	case errors.Is(err, body.ErrNoRoom):
		return err // 503
	case errors.Is(err, body.ErrTooLong):
		return answer.TooLong(h.limit(e), e.batch())
	case errors.Is(err, body.ErrCoding):
		return answer.UnknownCoding()
	case errors.Is(err, body.ErrNotGzip):
		return answer.NotGzip(err)
	default:
		return answer.Incomplete(err)
	}
}

// decode makes records of a body.
func (h *handler) decode(r *http.Request, e endpoint, text []byte, o *metrics.Outcome) (store.Batch, error) {
	d := h.decoders.Get()
	defer h.decoders.Put(d)
	if err := d.Parse(text, e.call); err != nil {
		return store.Batch{}, err
	}
	if o.Source == "" {
		if err := h.authenticate(writekey.Of(r, d.WriteKey()), o); err != nil {
			return store.Batch{}, err
		}
	}
	live := h.workspace.Load()
	review := h.plans.Review(live, o.Source)
	fromPage := e.beacon || cors.FromBrowser(r)
	o.Proxied = fromPage && h.trustsNobody && namesAnother(r, o.Client)
	terms := decode.Terms{
		ReceivedAt: h.now(),
		IP:         o.Client,
		FillIP:     fromPage,
		Review:     review.Judge(),
		BlockedIDs: live.BlockedIDs(o.Source),
		Suppressed: h.suppressed,
	}
	var err error
	o.Rejected, err = d.Accept(terms)
	note(o, d, review)
	if err != nil {
		return store.Batch{}, err
	}
	if o.Accepted+o.Blocked+o.Suppressed == 0 {
		return store.Batch{}, answer.NoneAccepted(o.Rejected, e.batch())
	}
	batch := store.NewBatch(o.Source, d.Events())
	if o.Blocked > 0 {
		batch.AddBlocked(o.Source, d.Blocked(), terms.ReceivedAt)
	}
	return batch, nil
}

// note takes down what became of the calls.
func note(o *metrics.Outcome, d *decode.Decoder, review *plan.Review) {
	o.Accepted, o.Blocked, o.Suppressed = d.Events().Len(), d.Blocked().Len(), d.Suppressed()
	o.Violating, o.Action = review.Violating(), review.Action()
	o.Nobody, o.Unreadable = d.IdentityBlocked(), d.Unreadable()
	o.Skew = d.Skew()
}

// namesAnother reports whether a request that comes from inside says that it comes
// from elsewhere, as those behind a proxy of one's own do.
func namesAnother(r *http.Request, client netip.Addr) bool {
	inside := client.IsPrivate() || client.IsLoopback()
	return inside && len(r.Header["Forwarded"])+len(r.Header["X-Forwarded-For"]) > 0
}
