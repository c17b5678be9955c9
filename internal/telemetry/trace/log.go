package trace

import (
	"context"
	"log/slog"

	api "go.opentelemetry.io/otel/trace"
)

// Logger returns a logger that names the trace and the span of a context that
// holds one; log itself when tracing is off.
func (t *Tracer) Logger(log *slog.Logger) *slog.Logger {
	if t == nil {
		return log
	}
	return slog.New(logHandler{log.Handler()})
}

// LoggerOf returns a logger that names the trace of a record's header, log itself
// where the record is part of none.
func LoggerOf(log *slog.Logger, traceParent string) *slog.Logger {
	if traceParent == "" {
		return log
	}
	return log.With("trace_id", traceParent[3:35])
}

type logHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h logHandler) Handle(ctx context.Context, r slog.Record) error {
	if c := api.SpanContextFromContext(ctx); c.IsValid() {
		r = r.Clone()
		r.AddAttrs(slog.String("trace_id", c.TraceID().String()), slog.String("span_id", c.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }
