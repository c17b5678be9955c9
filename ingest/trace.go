package ingest

import (
	"net/http"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
)

// traced is what a request that is traced tells of itself; its zero value, of one
// that is not, tells nothing.
type traced struct {
	request trace.Span
	sends   []trace.Span // one for each record
}

// follow begins the spans of a request and of its records, each of which names its
// own. Here a trace begins: requests that are refused before are not traced, since
// anybody on the internet may send those.
func (h *handler) follow(r *http.Request, began time.Time, source string, batch *store.Batch) traced {
	t := traced{request: h.trace.Request(r, began, source, h.addresses.Trusts(r))}
	if !t.request.On() {
		return t
	}
	t.request.Set(trace.Events, batch.Len())
	t.sends = make([]trace.Span, 0, batch.Len())
	batch.Trace(func(topic string, headers *schemas.Headers) string {
		send := h.trace.Publish(t.request, topic, headers)
		t.sends = append(t.sends, send)
		return send.Parent()
	})
	return t
}

// end ends the spans as the request is answered, which err decides.
func (t *traced) end(err error) {
	if !t.request.On() {
		return
	}
	status := http.StatusOK
	if err != nil {
		status = answer.Of(err).Status
		t.request.Fail("unavailable", "")
	}
	for _, send := range t.sends {
		if err != nil {
			send.Fail("unavailable", "the records of the request may not have been stored")
		}
		send.End()
	}
	t.request.Set(trace.Status, status)
	t.request.End()
}
