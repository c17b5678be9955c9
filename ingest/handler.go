package ingest

import (
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/internal/workspace"
)

// handler serves the collection protocol.
type handler struct {
	workspace *workspace.Live
	store     *store.Store
	metrics   *metrics
	refusals  *refusalLog
	now       func() time.Time

	bodies   bodies
	decoders decode.Pool
	// slots bounds how many requests are decoded at the same time. Decoding takes
	// a few milliseconds at most but may need thirty times the body's size in
	// memory, and a goroutine that was preempted in it holds on to that.
	slots chan struct{}
}

func newHandler(live *workspace.Live, records *store.Store, m *metrics, refusals *refusalLog) *handler {
	return &handler{
		workspace: live,
		store:     records,
		metrics:   m,
		refusals:  refusals,
		now:       time.Now,
		slots:     make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
}

// outcome is what became of one request.
type outcome struct {
	problem    *answer.Problem  // nil when it is answered 200
	rejected   []decode.Refusal // calls refused
	events     int              // calls accepted, and stored if problem is nil
	unreadable int              // time stamps
	source     string           // id; empty when not known
}

func (o *outcome) status() int {
	if o.problem == nil {
		return http.StatusOK
	}
	return o.problem.Status
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var o outcome
	if err := h.serve(r, &o); err != nil { //nolint:contextcheck // what is produced is detached from the request, see store.Put
		o.problem = answer.Of(err)
	}
	h.metrics.count(&o)
	h.refusals.write(r.Context(), r.RemoteAddr, &o)
	answer.Write(w, o.problem, o.rejected)
}

// serve does what the request asks for and notes in o how far it came.
func (h *handler) serve(r *http.Request, o *outcome) error {
	e, err := route(r)
	if err != nil {
		return err
	}
	// Before the body is read: a wrong key, or brokers that are down, cost
	// nothing more.
	if key, given := basicKey(r.Header.Get("Authorization")); given {
		if o.source, err = h.authenticate(key); err != nil {
			return err
		}
	}
	if err = h.store.Ready(); err != nil {
		return err
	}
	body := h.bodies.get()
	defer h.bodies.put(body)
	if *body, err = readBody(*body, r, e.limit); err != nil {
		return bodyProblem(e, err)
	}
	batch, err := h.decode(r, e, *body, o)
	if err != nil {
		return err
	}
	return h.store.Put(batch)
}

func bodyProblem(e endpoint, err error) error {
	if errors.Is(err, errBodyTooLong) {
		return answer.TooLong(e.limit, e.batch())
	}
	return answer.Incomplete(err)
}

// decode makes records of a body.
func (h *handler) decode(r *http.Request, e endpoint, body []byte, o *outcome) (store.Batch, error) {
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	d := h.decoders.Get()
	defer h.decoders.Put(d)
	if err := d.Parse(body, e.call); err != nil {
		return store.Batch{}, err
	}
	if o.source == "" {
		var err error
		if o.source, err = h.authenticate(keyOf(r, d.WriteKey())); err != nil {
			return store.Batch{}, err
		}
	}
	var err error
	o.rejected, err = d.Accept(h.now())
	events := d.Events()
	o.events, o.unreadable = events.Len(), d.Unreadable()
	if err != nil {
		return store.Batch{}, err
	}
	if events.Len() == 0 {
		return store.Batch{}, answer.NoneAccepted(o.rejected, e.batch())
	}
	return store.NewBatch(o.source, events), nil
}

// authenticate returns the id of the source that a write key belongs to.
// Unknown and disabled keys are one case, in answer and in time (see
// SourceByKey), and so is none at all.
func (h *handler) authenticate(key string) (source string, err error) {
	found, ok := h.workspace.Load().SourceByKey(key)
	if !ok || key == "" {
		return "", answer.WrongKey()
	}
	return found.ID, nil
}
