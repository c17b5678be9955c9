package trace

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/anabranch/anabranch/schemas"
)

// TestEachStageGoesOnWithTheTrace passes one event from hand to hand by nothing but
// the header.
func TestEachStageGoesOnWithTheTrace(t *testing.T) {
	t.Parallel()
	r := record(t, sdk.ParentBased(sdk.NeverSample()))
	began := time.Now().Add(-time.Minute)
	request := r.Request(call(sampled), began, "web", true)
	send := r.Publish(request, "raw-events", event(""))
	process := r.Process("raw-events", event(send.Parent()))
	routed := event("")
	routed.Destination = "crm"
	on := r.Publish(process, "deliver.crm", routed)
	attempt := r.Process("deliver.crm", event(on.Parent()))
	post := r.Post(attempt.In(t.Context()), "crm", 2)
	post.To("crm.example.com", 443)
	post.Set(Status, 503)
	post.Fail("status_5xx", "endpoint answered 503")
	attempt.Say(Outcome, "retried")
	for _, span := range []Span{post, attempt, on, process, send, request} {
		span.End()
	}

	ended := r.spans.Ended()
	if len(ended) != 6 {
		t.Fatalf("%d spans ended", len(ended))
	}
	parent := parentID
	for i, want := range []string{"POST /v1/batch", "send raw-events", "process raw-events", "send deliver.crm", "process deliver.crm", "POST"} {
		s := ended[len(ended)-1-i]
		if s.Name() != want || s.Parent().SpanID().String() != parent || s.SpanContext().TraceID().String() != traceID {
			t.Errorf("span %q of trace %s under %s, want %q under %s", s.Name(), s.SpanContext().TraceID(), s.Parent().SpanID(), want, parent)
		}
		parent = s.SpanContext().SpanID().String()
	}
	if !ended[5].StartTime().Equal(began) {
		t.Errorf("the request began at %v, want %v", ended[5].StartTime(), began)
	}
	want := map[string]string{
		"messaging.system": "kafka", "messaging.operation.type": "send", "messaging.destination.name": "deliver.crm",
		"messaging.message.id": "m-1", "anabranch.source": "web", "anabranch.type": "track", "anabranch.destination": "crm",
	}
	if diff := cmp.Diff(want, attributes(ended[2])); diff != "" {
		t.Errorf("attributes of a send (-want +got):\n%s", diff)
	}
	want = map[string]string{
		"http.request.method": "POST", "server.address": "crm.example.com", "server.port": "443", "http.response.status_code": "503",
		"error.type": "status_5xx", "anabranch.destination": "crm", "anabranch.endpoint": "2",
	}
	if diff := cmp.Diff(want, attributes(ended[0])); diff != "" || ended[0].Status() != (sdk.Status{Code: codes.Error, Description: "endpoint answered 503"}) {
		t.Errorf("status %v, attributes of a POST (-want +got):\n%s", ended[0].Status(), diff)
	}
}

// TestWhatIsNotSampledIsNoSpan: nothing is passed on of it, so no stage behind
// spends anything on it.
func TestWhatIsNotSampledIsNoSpan(t *testing.T) {
	t.Parallel()
	never := record(t, sdk.ParentBased(sdk.NeverSample()))
	always := record(t, sdk.ParentBased(sdk.AlwaysSample()))
	on := always.Request(call(sampled), time.Now(), "web", true)
	unsampled := strings.TrimSuffix(sampled, "01") + "00"
	for name, span := range map[string]Span{
		"a sampler that says no":          never.Request(call(""), time.Now(), "web", true),
		"a caller that says no":           always.Request(call(unsampled), time.Now(), "web", true),
		"a record without a trace":        always.Process("raw-events", event("")),
		"a record of an unsampled one":    always.Process("raw-events", event(unsampled)),
		"a record with a broken one":      always.Process("raw-events", event("00-1-2-01")),
		"a send of no request":            always.Publish(Span{}, "raw-events", event("")),
		"a POST of no attempt":            always.Post(t.Context(), "crm", 1),
		"a request, tracing off":          (*Tracer)(nil).Request(call(sampled), time.Now(), "web", true),
		"a send, tracing off":             (*Tracer)(nil).Publish(on, "raw-events", event("")),
		"a record, tracing off":           (*Tracer)(nil).Process("raw-events", event(sampled)),
		"a POST, tracing off":             (*Tracer)(nil).Post(on.In(t.Context()), "crm", 1),
		"a caller that names a broken on": never.Request(call("00-zz-zz-01"), time.Now(), "web", true),
	} {
		if span.On() || span.Parent() != "" || span.In(t.Context()) != t.Context() {
			t.Errorf("%s makes a span", name)
		}
		span.Set(Events, 1)
		span.Say(Outcome, "delivered")
		span.Fail("network", "")
		span.To("h", 1)
		span.End()
	}
	Answered(t.Context(), 200)
	if n := len(never.spans.Ended()) + len(always.spans.Ended()); n != 0 {
		t.Errorf("%d spans ended", n)
	}
}

// TestAStrangerDoesNotDecide what is traced, nor in whose trace: its own is a link.
func TestAStrangerDoesNotDecide(t *testing.T) {
	t.Parallel()
	if span := record(t, sdk.ParentBased(sdk.NeverSample())).Request(call(sampled), time.Now(), "web", false); span.On() {
		t.Error("a stranger has its call traced")
	}
	r := record(t, sdk.ParentBased(sdk.AlwaysSample()))
	r.Request(call(strings.TrimSuffix(sampled, "01")+"00"), time.Now(), "web", false).End()
	ended := r.spans.Ended()
	if len(ended) != 1 {
		t.Fatalf("a stranger keeps its call from being traced: %d spans", len(ended))
	}
	caller := parse(sampled)
	span := ended[0]
	if span.Parent().IsValid() || span.SpanContext().TraceID() == caller.TraceID() || len(span.Links()) != 1 || span.Links()[0].SpanContext.TraceID() != caller.TraceID() {
		t.Errorf("trace %s under %s with links %v", span.SpanContext().TraceID(), span.Parent().SpanID(), span.Links())
	}
}

func TestASamplerMayPassOverTheCaller(t *testing.T) {
	t.Parallel()
	if span := record(t, sdk.NeverSample()).Request(call(sampled), time.Now(), "web", true); span.On() {
		t.Error("always_off traces a call that its caller traces")
	}
}

func TestWhatAnEventSaysOfItselfIsCut(t *testing.T) {
	t.Parallel()
	r := record(t, sdk.AlwaysSample())
	h := event(sampled)
	h.MessageID = strings.Repeat("é", 100)
	h.Source = strings.Repeat("s", 1000)
	r.Process("raw-events", h).End()
	got := attributes(r.spans.Ended()[0])
	if got["messaging.message.id"] != h.MessageID || len(got["anabranch.source"]) != 256 {
		t.Errorf("messageId %q, source of %d bytes", got["messaging.message.id"], len(got["anabranch.source"]))
	}
}

func TestAnsweredIsForTheSpanOfTheContext(t *testing.T) {
	t.Parallel()
	r := record(t, sdk.AlwaysSample())
	attempt := r.Process("deliver.crm", event(sampled))
	post := r.Post(attempt.In(t.Context()), "crm", 1)
	Answered(post.In(t.Context()), 204)
	post.End()
	attempt.End()
	if got := attributes(r.spans.Ended()[0])[Status]; got != "204" {
		t.Errorf("status %q", got)
	}
	if got := attributes(r.spans.Ended()[1])[Status]; got != "" {
		t.Errorf("status %q of the attempt", got)
	}
}

// FuzzTraceParent: what is taken for a trace context is passed on as the same one,
// and nothing else is taken.
func FuzzTraceParent(f *testing.F) {
	f.Add(sampled)
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-ff")
	f.Add("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	f.Add("00-00000000000000000000000000000000-0000000000000000-01")
	f.Fuzz(func(t *testing.T, text string) {
		c := parse(text)
		if c.IsValid() != schemas.ValidTraceParent(text) {
			t.Fatalf("%q is a trace context: %v, by the header's rule %v", text, c.IsValid(), !c.IsValid())
		}
		if !c.IsValid() {
			return
		}
		if again := format(c); again[:53] != text[:53] {
			t.Fatalf("%q is passed on as %q", text, again)
		}
		if want := text[53:] != "00" && strings.ContainsAny(text[54:], "13579bdf"); c.IsSampled() != want {
			t.Fatalf("%q is sampled: %v", text, c.IsSampled())
		}
	})
}

func BenchmarkOff(b *testing.B) {
	var t *Tracer
	h := event("")
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		span := t.Process("raw-events", h)
		post := t.Post(span.In(ctx), "crm", 1)
		post.End()
		span.End()
	}
}

// Costs of the ways that an event takes while tracing is on.
func BenchmarkOn(b *testing.B) {
	for name, c := range map[string]struct {
		sampler sdk.Sampler
		parent  string
	}{
		"event without a trace": {sdk.AlwaysSample(), ""},
		"event of a trace":      {sdk.AlwaysSample(), sampled},
	} {
		b.Run(name, func(b *testing.B) {
			t := record(b, c.sampler).Tracer
			h := event(c.parent)
			b.ReportAllocs()
			for b.Loop() {
				t.Process("raw-events", h).End()
			}
		})
	}
	b.Run("request not sampled", func(b *testing.B) {
		t := record(b, sdk.NeverSample()).Tracer
		r, now := call(""), time.Now()
		b.ReportAllocs()
		for b.Loop() {
			t.Request(r, now, "web", true).End()
		}
	})
}

// TestOffCostsNothing: what every event passes while tracing is off, and all but
// the sampled ones while it is on.
func TestOffCostsNothing(t *testing.T) {
	r := record(t, sdk.AlwaysSample())
	ctx, h := t.Context(), event("")
	for name, tracer := range map[string]*Tracer{"off": nil, "on": r.Tracer} {
		if n := testing.AllocsPerRun(100, func() {
			span := tracer.Process("raw-events", h)
			in := span.In(ctx)
			tracer.Post(in, "crm", 1).End()
			Answered(in, 200)
			tracer.Publish(span, "deliver.crm", h).End()
			_ = span.Parent()
			span.End()
		}); n != 0 {
			t.Errorf("tracing %s: %v allocations for an event that is not traced", name, n)
		}
	}
}
