package attempt

import (
	"encoding/json"

	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/webhook-sink/internal/post"
)

// describe ends the span of a POST with where it went and how it ended. A URL is
// not shown: in all parts of it but the host there may be a secret.
func describe(span trace.Span, e *endpoint, r *result) {
	if !span.On() {
		return
	}
	if e.target != nil {
		span.To(e.target.Address())
	}
	switch r.Verdict {
	case post.Delivered:
		span.Say(trace.Outcome, OutcomeDelivered)
	case post.Abandoned:
		span.Fail("abandoned", "cut short by the stop of the process")
	case post.Retry, post.Dead:
		span.Say(trace.Outcome, string(r.Reason))
		span.Fail(string(r.Reason), r.Detail)
	}
	span.End()
}

// messageIDOf reads the messageId of a delivery's body. It is for the few that are
// logged.
func messageIDOf(content []byte) string {
	var delivery struct {
		MessageID string `json:"messageId"`
	}
	_ = json.Unmarshal(content, &delivery) // of our own making; without an id the line says less
	return delivery.MessageID
}
