package trace

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/anabranch/anabranch/internal/telemetry/trace/tracetest"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestOffIsNoTracer(t *testing.T) {
	t.Parallel()
	log := new(testkit.Logs)
	tracer, err := New(usual(""), settings(log))
	if tracer != nil || err != nil || log.String() != "" {
		t.Errorf("New returned %v, %v and logged %s", tracer, err, log)
	}
	if logger := log.Logger(); tracer.Logger(logger) != logger {
		t.Error("the log goes through a tracer that is off")
	}
}

// TestAStopSendsWhatIsLeft to a real collector: the last spans are made a moment
// before.
func TestAStopSendsWhatIsLeft(t *testing.T) {
	t.Parallel()
	collector := tracetest.New(t)
	cfg := usual(collector.URL)
	cfg.Headers = "api-key=k"
	tracer, err := New(cfg, settings(new(testkit.Logs)))
	if err != nil {
		t.Fatal(err)
	}
	tracer.flush = time.Minute // on a busy machine
	stop := running(t, tracer)
	for range 1000 {
		tracer.Process("raw-events", event(sampled)).End()
	}
	stop()
	n := 0
	for _, s := range collector.Spans() {
		if s.Name == "process raw-events" && s.Attributes["messaging.message.id"] == "m-1" && s.Resource["service.name"] == "test" {
			n++
		}
	}
	if n != 1000 || collector.Header("Api-Key") != "k" {
		t.Errorf("%d spans arrived, with the key %q", n, collector.Header("Api-Key"))
	}
}

func TestNoTracerOfSettingsThatCannotWork(t *testing.T) {
	t.Parallel()
	cfg := usual("http://127.0.0.1:4318")
	cfg.Sampler = "sometimes"
	if tracer, err := New(cfg, settings(new(testkit.Logs))); err == nil || tracer != nil {
		t.Errorf("New returned %v, %v", tracer, err)
	}
}

// TestACollectorThatRefuses is said once, and its return too; every span is
// counted.
func TestACollectorThatRefuses(t *testing.T) {
	t.Parallel()
	collector := tracetest.New(t)
	collector.Answer(http.StatusForbidden)
	log := new(testkit.Logs)
	tracer, err := New(usual(collector.URL), settings(log))
	if err != nil {
		t.Fatal(err)
	}
	tracer.every, tracer.flush = time.Millisecond, time.Minute
	stop := running(t, tracer)
	for n := range 3 {
		tracer.Process("raw-events", event(sampled)).End()
		testkit.Until(t, func() bool { return collector.Asked() > n && tracer.exporter.waiting.Load() == 0 }, "the collector to be asked")
	}
	if n := log.Count("traces can't be sent"); n != 1 || !strings.Contains(log.String(), "403") {
		t.Errorf("said %d times:\n%s", n, log)
	}
	collector.Answer(http.StatusOK)
	tracer.Process("raw-events", event(sampled)).End()
	testkit.Until(t, func() bool { return log.Count("traces are sent again") == 1 }, "the return to be said")
	stop()
	if failed, sent := testutil.ToFloat64(tracer.exporter.failed), testutil.ToFloat64(tracer.exporter.sent); failed < 3 || sent != 1 {
		t.Errorf("%v spans failed and %v were sent", failed, sent)
	}
	if n := log.Count("traces are incomplete"); n != 1 {
		t.Errorf("the end says %d times that spans are lost:\n%s", n, log)
	}
}

// stuck is a collector that answers when it is let go.
type stuck struct {
	letGo chan struct{}
	spans atomic.Int64
}

func (s *stuck) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	select {
	case <-s.letGo:
		s.spans.Add(int64(len(spans)))
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stuck) Shutdown(context.Context) error { return nil }

// TestNobodyWaitsForACollector that has stopped answering: spans beyond the bound
// are dropped, at once, counted, and said once.
func TestNobodyWaitsForACollector(t *testing.T) {
	t.Parallel()
	const more = 500
	log, to := new(testkit.Logs), &stuck{letGo: make(chan struct{})}
	tracer := newTracer(to, sdk.AlwaysSample(), resource.Empty(), settings(log))
	tracer.every, tracer.flush = time.Millisecond, time.Minute
	stop := running(t, tracer)
	began := tracer.exporter.waiting.Load()
	for range maxWaiting + more {
		tracer.Process("raw-events", event(sampled)).End()
	}
	dropped := testutil.ToFloat64(tracer.exporter.droppedOut)
	if dropped != more+float64(began) || tracer.exporter.waiting.Load() != maxWaiting {
		t.Errorf("%v spans dropped and %d waiting, want %v and %d", dropped, tracer.exporter.waiting.Load(), more+began, maxWaiting)
	}
	if n := log.Count("spans are dropped"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log)
	}
	close(to.letGo)
	testkit.Until(t, func() bool { return tracer.exporter.waiting.Load() == 0 }, "the spans to leave")
	stop()
	if to.spans.Load() != maxWaiting || testutil.ToFloat64(tracer.exporter.sent) != maxWaiting {
		t.Errorf("%d spans arrived, want every one that was let in", to.spans.Load())
	}
	if n := log.Count("spans_lost=500") + log.Count("spans_lost=501"); n == 0 {
		t.Errorf("the end does not say what is lost:\n%s", log)
	}
}

// TestAStopDoesNotWaitForACollector that never answers, in virtual time.
func TestAStopDoesNotWaitForACollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &stuck{letGo: make(chan struct{})}
		tracer := newTracer(to, sdk.AlwaysSample(), resource.Empty(), settings(new(testkit.Logs)))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- tracer.Run(ctx) }()
		synctest.Wait()
		tracer.Process("raw-events", event(sampled)).End()
		cancel()
		began := time.Now()
		if err := <-done; err != nil || time.Since(began) > flushTime {
			t.Errorf("Run returned %v after %s", err, time.Since(began))
		}
		close(to.letGo) // the goroutine in the background ends with the bubble
	})
}

func TestErrorsAreShortInTheLog(t *testing.T) {
	t.Parallel()
	if got := short(errors.New(strings.Repeat("x", 10_000))); len(got) > 310 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestTheLogNamesTheTrace(t *testing.T) {
	t.Parallel()
	r, out := record(t, sdk.AlwaysSample()), new(testkit.Logs)
	log := r.Logger(out.Logger()).With("stage", "test")
	span := r.Process("raw-events", event(sampled))
	log.WarnContext(span.In(t.Context()), "inside")
	log.WarnContext(t.Context(), "outside")
	log.WithGroup("g").WarnContext(span.In(t.Context()), "grouped")
	if out.Count(" trace_id="+traceID) != 1 || out.Count(" g.trace_id="+traceID) != 1 || out.Count("trace_id") != 2 {
		t.Errorf("log:\n%s", out)
	}
	LoggerOf(log, sampled).Warn("of a record")
	if LoggerOf(log, "") != log {
		t.Error("a record without a trace has a logger of its own")
	}
	if !strings.HasSuffix(out.String(), `msg="of a record" stage=test trace_id=`+traceID+"\n") {
		t.Errorf("log:\n%s", out)
	}
}
