package trace

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// recorded is a tracer whose spans a test reads once they have ended.
type recorded struct {
	*Tracer
	spans *tracetest.SpanRecorder
}

func record(tb testing.TB, sampler sdk.Sampler) recorded {
	tb.Helper()
	spans := tracetest.NewSpanRecorder()
	t := newTracer(tracetest.NewNoopExporter(), sampler, resource.Empty(), settings(new(testkit.Logs)))
	t.provider.RegisterSpanProcessor(spans)
	return recorded{t, spans}
}

func settings(log *testkit.Logs) Settings {
	return Settings{Logger: log.Logger(), Registerer: prometheus.NewRegistry(), Service: "test"}
}

// running runs a tracer until stop, or the end of the test.
func running(tb testing.TB, t *Tracer) (stop func()) {
	tb.Helper()
	stop = testkit.Start(tb, t.Run)
	// What ends before it runs is lost.
	testkit.Until(tb, func() bool {
		span := t.Request(call(""), time.Now(), "web", true)
		span.End()
		return t.exporter.waiting.Load() > 0 || testutil.ToFloat64(t.exporter.sent)+testutil.ToFloat64(t.exporter.failed) > 0
	}, "the tracer to run")
	return stop
}

func call(traceParent string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/batch", http.NoBody)
	if traceParent != "" {
		r.Header.Set("Traceparent", traceParent)
	}
	return r
}

const (
	traceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentID = "00f067aa0ba902b7"
	sampled  = "00-" + traceID + "-" + parentID + "-01"
)

func event(traceParent string) *schemas.Headers {
	return &schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m-1", TraceParent: traceParent}
}

func attributes(s sdk.ReadOnlySpan) map[string]string {
	all := make(map[string]string)
	for _, each := range s.Attributes() {
		all[string(each.Key)] = each.Value.String()
	}
	return all
}
