package ingest

import (
	"errors"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

// handler serves the collection protocol.
type handler struct {
	workspace *workspace.Live
	producer  *producer
	metrics   *metrics
	refusals  *refusalLog
	now       func() time.Time

	bodies   bodies
	decoders sync.Pool
	// slots bounds how many requests are decoded at the same time. Decoding takes
	// a few milliseconds at most but may need thirty times the body's size in
	// memory, and a goroutine that was preempted in it holds on to that.
	slots chan struct{}
}

func newHandler(live *workspace.Live, p *producer, m *metrics, refusals *refusalLog) *handler {
	return &handler{
		workspace: live,
		producer:  p,
		metrics:   m,
		refusals:  refusals,
		now:       time.Now,
		slots:     make(chan struct{}, 2*runtime.GOMAXPROCS(0)),
	}
}

// outcome is what became of one request.
type outcome struct {
	problem    *problem  // nil when it is answered 200
	rejected   []refusal // calls refused
	events     int       // calls accepted, and stored if problem is nil
	unreadable int       // time stamps
	source     string    // id; empty when not known
}

func (o *outcome) status() int {
	if o.problem == nil {
		return http.StatusOK
	}
	return o.problem.status
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var o outcome
	if err := h.serve(r, &o); err != nil { //nolint:contextcheck // what is produced is detached from the request, see store
		o.problem = problemOf(err)
	}
	h.metrics.count(&o)
	h.refusals.write(r.Context(), r.RemoteAddr, &o)
	writeAnswer(w, o.problem, o.rejected)
}

// problemOf is the answer that an error stands for. What is no answer comes
// from the way to the brokers.
func problemOf(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	return unavailable(err)
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
	if _, err = h.producer.link.open(); err != nil {
		return err
	}
	body := h.bodies.get()
	defer h.bodies.put(body)
	if *body, err = readBody(*body, r, e.limit); err != nil {
		return errBody(e, err)
	}
	records, bytes, err := h.decode(r, e, *body, o)
	if err != nil {
		return err
	}
	return h.producer.store(records, bytes)
}

// decode makes records of a body.
func (h *handler) decode(r *http.Request, e endpoint, body []byte, o *outcome) ([]kgo.Record, int, error) {
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	d := h.decoder()
	defer h.release(d, len(body))
	if err := d.parse(e, body); err != nil {
		return nil, 0, err
	}
	if o.source == "" {
		var err error
		if o.source, err = h.authenticate(d.writeKey(r)); err != nil {
			return nil, 0, err
		}
	}
	req := &request{source: o.source, call: e.call, receivedAt: h.now().UnixMilli()}
	var err error
	o.rejected, err = d.accept(e, req)
	o.unreadable = d.press.stamps.unreadable
	o.events = len(d.press.entries)
	if err != nil {
		return nil, 0, err
	}
	records, bytes := d.records(req)
	return records, bytes, nil
}

// authenticate returns the id of the source that a write key belongs to.
// Unknown and disabled keys are one case, in answer and in time (see
// SourceByKey), and so is none at all.
func (h *handler) authenticate(key string) (source string, err error) {
	found, ok := h.workspace.Load().SourceByKey(key)
	if !ok || key == "" {
		return "", errWriteKey()
	}
	return found.ID, nil
}

func (h *handler) decoder() *decoder {
	if d, ok := h.decoders.Get().(*decoder); ok {
		return d
	}
	return new(decoder)
}

// keepCalls is up to how many calls a decoder keeps memory for.
const keepCalls = 256

// release keeps a decoder for the next request, unless this one has made it
// large.
func (h *handler) release(d *decoder, body int) {
	if body <= keepBody && len(d.calls) <= keepCalls && cap(d.press.out) <= 2*keepBody {
		h.decoders.Put(d)
	}
}
