package trace

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"

	"github.com/anabranch/anabranch/schemas"
)

// Span is one unit of work of a trace. Its zero value is none.
type Span struct{ span api.Span }

// On reports whether there is a span: what only serves to describe it can be
// spared if not.
func (s Span) On() bool { return s.span != nil }

// Parent is the trace context for whoever goes on with the work, as the header
// traceparent has it; empty for no span.
func (s Span) Parent() string {
	if s.span == nil {
		return ""
	}
	return format(s.span.SpanContext())
}

// Set adds a number to what is known of the span.
func (s Span) Set(key string, n int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, n))
	}
}

// Fail says that the work failed, with a word of a closed set and a detail that
// holds no secret.
func (s Span) Fail(reason, detail string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String("error.type", reason))
		s.span.SetStatus(codes.Error, detail)
	}
}

// Say adds a word of a closed set to what is known of the span.
func (s Span) Say(key, word string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(key, word))
	}
}

// To says where a request went. No more than that of a URL is shown: in its path,
// query and user there may be secrets.
func (s Span) To(host string, port int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String("server.address", host), attribute.Int("server.port", port))
	}
}

// End ends the span. One that is never ended never was.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

// In returns a context that holds the span, ctx itself for none.
func (s Span) In(ctx context.Context) context.Context {
	if s.span == nil {
		return ctx
	}
	return api.ContextWithSpan(ctx, s.span)
}

// Answered says with which status the request was answered whose span ctx holds.
func Answered(ctx context.Context, status int) {
	if span := api.SpanFromContext(ctx); span.IsRecording() {
		span.SetAttributes(attribute.Int(Status, status))
	}
}

const hexDigits = "0123456789abcdef"

// format writes the W3C's traceparent. All that is written here is sampled.
func format(c api.SpanContext) string {
	b := make([]byte, 0, schemas.TraceParentBytes)
	b = append(b, "00-"...)
	trace, span := c.TraceID(), c.SpanID()
	b = appendHex(b, trace[:])
	b = append(b, '-')
	b = appendHex(b, span[:])
	return string(append(b, "-01"...))
}

func appendHex(dst, digits []byte) []byte {
	for _, b := range digits {
		dst = append(dst, hexDigits[b>>4], hexDigits[b&0xf])
	}
	return dst
}

// parse reads a traceparent. The result is not valid for a text that is none.
func parse[T ~string | ~[]byte](text T) api.SpanContext {
	if !schemas.ValidTraceParent(text) {
		return api.SpanContext{}
	}
	s := string(text)
	trace, _ := api.TraceIDFromHex(s[3:35])
	span, _ := api.SpanIDFromHex(s[36:52])
	return api.NewSpanContext(api.SpanContextConfig{
		TraceID: trace, SpanID: span, Remote: true,
		TraceFlags: api.TraceFlags(digit(s[53])<<4 | digit(s[54])),
	})
}

func digit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}
