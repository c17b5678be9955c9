package ingest

import (
	"net/http"
	"time"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/report"
	"github.com/anabranch/anabranch/ingest/internal/store"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
)

// put stores a batch. Here a trace begins: requests that are refused before are not
// traced, since anybody on the internet may send those.
func (h *handler) put(r *http.Request, began time.Time, o *report.Outcome, batch store.Batch) error {
	request := h.trace.Request(r, began, o.Source)
	if !request.On() {
		return h.store.Put(batch)
	}
	sends := make([]trace.Span, 0, batch.Len())
	batch.Trace(func(topic string, headers *schemas.Headers) string {
		send := h.trace.Publish(request, topic, headers)
		sends = append(sends, send)
		return send.Parent()
	})
	err := h.store.Put(batch)
	for _, send := range sends {
		if err != nil {
			send.Fail("unavailable", "the records of the request are not known to be stored")
		}
		send.End()
	}
	end(request, &batch, err)
	return err
}

// end ends the span of a request as the request was answered.
func end(request trace.Span, batch *store.Batch, err error) {
	status := http.StatusOK
	if err != nil {
		status = answer.Of(err).Status
		request.Fail("unavailable", "")
	}
	request.Set(trace.Status, status)
	request.Set(trace.Events, batch.Len())
	request.End()
}
