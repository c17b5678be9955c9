package attempt

import (
	"context"
	"log/slog"
	"time"

	"github.com/anabranch/anabranch/internal/telemetry/seldom"
)

// failureLog logs failed POSTs (spec.md, Errors: "a timeout error is logged"),
// the first of a kind at once and then at most one in seldom.Every, with the
// number passed over.
type failureLog struct {
	log    *slog.Logger
	seldom seldom.Log
}

func (f *failureLog) failed(ctx context.Context, destination string, r *result, content []byte) {
	passed, ok := f.seldom.Admit(seldom.Kind{Destination: destination, Reason: r.Reason}, time.Now())
	if !ok {
		return
	}
	attrs := []slog.Attr{
		slog.String("destination", destination), slog.Int("endpoint", r.position), slog.String("reason", string(r.Reason)),
		slog.String("detail", r.Detail), slog.String("message_id", messageIDOf(content)), slog.Int("passed_over", passed),
	}
	if r.Cause != "" {
		attrs = append(attrs, slog.String("cause", r.Cause))
	}
	f.log.LogAttrs(ctx, slog.LevelWarn, "delivery to an endpoint ended without success", attrs...)
}

// down logs that an endpoint is left alone from now on.
func (f *failureLog) down(ctx context.Context, destination string, r *result) {
	f.log.WarnContext(ctx, "endpoint is down, holding its deliveries back until it answers a probe",
		"destination", destination, "endpoint", r.position, "reason", string(r.Reason), "detail", r.Detail)
}

// up logs that an endpoint is back.
func (f *failureLog) up(ctx context.Context, destination string, r *result) {
	f.log.InfoContext(ctx, "endpoint answers again", "destination", destination, "endpoint", r.position)
}
