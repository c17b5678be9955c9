package trace

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	api "go.opentelemetry.io/otel/trace"

	"github.com/anabranch/anabranch/schemas"
)

// Attributes of spans, beside those that OpenTelemetry's conventions name.
const (
	Source      = "anabranch.source"
	Destination = "anabranch.destination"
	Outcome     = "anabranch.outcome"
	Attempt     = "anabranch.attempt"
	Endpoint    = "anabranch.endpoint"
	Events      = "anabranch.events"
	Routed      = "anabranch.routed"
	Filtered    = "anabranch.filtered"
	Dead        = "anabranch.dead"
	Duplicate   = "anabranch.duplicate"
	Status      = "http.response.status_code"
)

// Request begins the span of a request to the collection API that began at a
// moment, of a source that is known by its key. What a trusted caller names is its
// parent, if the sampler lets that count; what a stranger names is only a link: it
// may not decide what is traced.
func (t *Tracer) Request(r *http.Request, began time.Time, source string, trusted bool) Span {
	if t == nil {
		return Span{}
	}
	ctx, options := context.Background(), []api.SpanStartOption{api.WithSpanKind(api.SpanKindServer), api.WithTimestamp(began)}
	if caller := parse(r.Header.Get("Traceparent")); caller.IsValid() && trusted {
		ctx = api.ContextWithRemoteSpanContext(ctx, caller)
	} else if caller.IsValid() {
		options = append(options, api.WithLinks(api.Link{SpanContext: caller}))
	}
	// The sampler sees neither name nor attributes, so they are made for what it
	// takes alone.
	_, span := t.tracer.Start(ctx, "POST", options...)
	if !span.IsRecording() {
		return Span{}
	}
	span.SetName("POST " + r.URL.Path)
	span.SetAttributes(
		attribute.String("http.request.method", http.MethodPost), // the protocol knows no other
		attribute.String("http.route", r.URL.Path),               // one of those of the protocol
		attribute.String(Source, source),
	)
	return Span{span}
}

// Publish begins the span of writing one event to a topic.
func (t *Tracer) Publish(parent Span, topic string, h *schemas.Headers) Span {
	if t == nil || parent.span == nil {
		return Span{}
	}
	return t.event(parent.span.SpanContext(), "send", topic, api.SpanKindProducer, h)
}

// Process begins the span of what a stage does with one event of a topic. There is
// none unless the event is traced.
func (t *Tracer) Process(topic string, h *schemas.Headers) Span {
	if t == nil || h.TraceParent == "" {
		return Span{}
	}
	parent := parse(h.TraceParent)
	if !parent.IsSampled() {
		return Span{} // whoever wrote that: here nothing unsampled is passed on
	}
	return t.event(parent, "process", topic, api.SpanKindConsumer, h)
}

// Post begins the span of one request to the endpoint of a destination that has a
// position there, from 1. There is none unless ctx holds a span.
func (t *Tracer) Post(ctx context.Context, destination string, position int) Span {
	if t == nil {
		return Span{}
	}
	parent := api.SpanContextFromContext(ctx)
	if !parent.IsSampled() {
		return Span{}
	}
	_, span := t.tracer.Start(ctx, http.MethodPost, api.WithSpanKind(api.SpanKindClient))
	if !span.IsRecording() {
		return Span{}
	}
	span.SetAttributes(
		attribute.String("http.request.method", http.MethodPost),
		attribute.String(Destination, destination),
		attribute.Int(Endpoint, position),
	)
	return Span{span}
}

// event begins a span about one event. The messageId is that of OpenTelemetry's
// conventions for messages: it is what people search for.
func (t *Tracer) event(parent api.SpanContext, operation, topic string, kind api.SpanKind, h *schemas.Headers) Span {
	ctx := api.ContextWithSpanContext(context.Background(), parent)
	_, span := t.tracer.Start(ctx, operation+" "+topic, api.WithSpanKind(kind))
	if !span.IsRecording() {
		return Span{}
	}
	span.SetAttributes(
		attribute.String("messaging.system", "kafka"),
		attribute.String("messaging.operation.type", operation),
		attribute.String("messaging.destination.name", topic),
		attribute.String("messaging.message.id", h.MessageID),
		attribute.String(Source, h.Source),
		attribute.String("anabranch.type", string(h.Type)),
	)
	if h.Destination != "" {
		span.SetAttributes(attribute.String(Destination, h.Destination))
	}
	return Span{span}
}
