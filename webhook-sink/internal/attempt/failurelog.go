package attempt

import (
	"context"
	"log/slog"
	"time"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

// failureLog logs failed POSTs (spec.md, Errors: "a timeout error is logged"),
// the first of a kind at once and then at most one in logging.Every, with the
// number passed over.
type failureLog struct {
	log    *slog.Logger
	seldom logging.Sampler[logging.Kind]
}

func (f *failureLog) failed(ctx context.Context, destination string, c *call, content []byte) {
	passed, ok := f.seldom.Admit(logging.Kind{Destination: destination, Reason: c.outcome.Reason}, time.Now())
	if !ok {
		return
	}
	attrs := []slog.Attr{
		slog.String("destination", destination), slog.Int("endpoint", c.endpoint.position), slog.String("reason", string(c.outcome.Reason)),
		slog.String("detail", c.outcome.Detail), slog.String("message_id", body.MessageID(content)), slog.Int("passed_over", passed),
	}
	if c.outcome.Cause != "" {
		attrs = append(attrs, slog.String("cause", c.outcome.Cause))
	}
	f.log.LogAttrs(ctx, slog.LevelWarn, "delivery to an endpoint failed", attrs...)
}

// down logs that an endpoint is left alone from now on.
func (f *failureLog) down(ctx context.Context, destination string, c *call) {
	f.log.WarnContext(ctx, "endpoint is down, holding its deliveries back until it answers a probe",
		"destination", destination, "endpoint", c.endpoint.position, "reason", string(c.outcome.Reason), "detail", c.outcome.Detail)
}

// up logs that an endpoint is back.
func (f *failureLog) up(ctx context.Context, destination string, c *call) {
	f.log.InfoContext(ctx, "endpoint answers again", "destination", destination, "endpoint", c.endpoint.position)
}
