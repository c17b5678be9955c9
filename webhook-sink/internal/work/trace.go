package work

import (
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// describe ends the span of an attempt with its outcome and what comes of it. An
// attempt that was withheld leaves no span: nothing happened, and it does so often
// during an outage.
func describe(span trace.Span, f schedule.Fate, o outcome.Outcome) {
	if !span.On() || o.Verdict == outcome.Withheld {
		return
	}
	span.Set(trace.Attempt, f.Headers.Attempt)
	span.Say(trace.Outcome, ending(f.Ending))
	switch {
	case o.Reason != "":
		span.Fail(string(o.Reason), o.Detail)
	case f.Ending == schedule.Unfinished:
		span.Fail("abandoned", "interrupted by the shutdown of the process")
	}
	span.End()
}

// ending is the word for what becomes of an event after an attempt.
func ending(e schedule.Ending) string {
	switch e {
	case schedule.Delivered:
		return "delivered"
	case schedule.Retried, schedule.Withheld, schedule.Hopped:
		return "retried"
	case schedule.Dead:
		return "dead"
	default: // schedule.Unfinished
		return "unfinished"
	}
}
