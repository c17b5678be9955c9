package trace

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// gate lets a span pass while there is room for it. The processor behind it drops
// spans without telling; with no more than maxWaiting between gate and collector it
// never has to.
type gate struct {
	sdk.SpanProcessor
	out *exporter
}

// OnEnd never waits.
func (g *gate) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if g.out.waiting.Add(1) > maxWaiting {
		g.out.waiting.Add(-1)
		g.out.drop()
		return
	}
	g.SpanProcessor.OnEnd(s)
}

// exporter counts what comes of the spans that are sent through it. Its errors end
// here: OpenTelemetry would print them past the log.
type exporter struct {
	sdk.SpanExporter
	log *slog.Logger

	waiting                  atomic.Int64
	failing                  atomic.Bool
	dropping                 atomic.Bool
	lost                     atomic.Int64 // dropped or failed
	sent, failed, droppedOut prometheus.Counter
}

func newExporter(to sdk.SpanExporter, set Settings) *exporter {
	spans := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_trace_spans_total",
		Help: "Spans by result: sent, failed (the collector did not accept them) or dropped (too many were waiting for it).",
	}, []string{"result"})
	set.Registerer.MustRegister(spans)
	return &exporter{
		SpanExporter: to, log: set.Logger,
		sent: spans.WithLabelValues("sent"), failed: spans.WithLabelValues("failed"), droppedOut: spans.WithLabelValues("dropped"),
	}
}

// ExportSpans sends spans. It is called by one goroutine.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	left := e.waiting.Add(-int64(len(spans)))
	switch {
	case err != nil:
		e.failed.Add(float64(len(spans)))
		e.lost.Add(int64(len(spans)))
		if !e.failing.Swap(true) {
			e.log.Warn("traces can't be sent; events are not delayed, and further failures are only counted", "error", short(err))
		}
	default:
		e.sent.Add(float64(len(spans)))
		if e.failing.Swap(false) {
			e.log.Info("traces are sent again", "spans_lost_so_far", e.lost.Load())
		}
	}
	if left < maxWaiting/2 {
		e.dropping.Store(false)
	}
	return nil
}

// drop counts a span that found no room, and says so once until half of it is free
// again.
func (e *exporter) drop() {
	e.droppedOut.Inc()
	e.lost.Add(1)
	if !e.dropping.Swap(true) {
		e.log.Warn("spans are dropped: more end than the collector accepts; trace a smaller share with OTEL_TRACES_SAMPLER", "waiting", maxWaiting)
	}
}

// sayLost is for the end: what nobody will see.
func (e *exporter) sayLost() {
	if n := e.lost.Load() + e.waiting.Load(); n > 0 {
		e.log.Warn("traces are incomplete", "spans_lost", n)
	}
}

// short is the text of an error, which may quote what a collector answered.
func short(err error) string {
	const limit = 300
	text := err.Error()
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}
