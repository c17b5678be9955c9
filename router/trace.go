package router

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
)

// follow begins the span of one event, none unless it is traced. It ends when the
// transaction is committed: of one that is aborted nothing has happened, and its
// events come again.
func (s *stage) follow(topic string, h *schemas.Headers) trace.Span {
	span := s.set.Trace.Process(topic, h)
	if span.On() {
		s.spans = append(s.spans, span)
	}
	return span
}

// publish begins the span of one record that is written for a traced event, and
// has the record name it.
func (s *stage) publish(process trace.Span, out *kgo.Record, destination string) {
	if !process.On() {
		return
	}
	h, err := kafka.HeadersOf(out)
	if err != nil {
		return // a dead letter of a later release: its headers stay as they are
	}
	h.Destination = destination // for the span alone: the topic says it
	send := s.set.Trace.Publish(process, out.Topic, &h)
	if !send.On() {
		return
	}
	s.spans = append(s.spans, send)
	kafka.SetTraceParent(out, send.Parent())
}

// describe says on the span of an event what became of it.
func describe(span trace.Span, decisions []decision) {
	if !span.On() {
		return
	}
	var n struct{ routed, filtered, dead, duplicate int }
	for i := range decisions {
		switch d := &decisions[i]; d.result {
		case routed:
			n.routed++
		case filtered:
			n.filtered++
		case dead:
			n.dead++
			span.Fail(string(d.reason), d.detail)
		case duplicate:
			n.duplicate++
		case unconnected:
		}
	}
	span.Set(trace.Routed, n.routed)
	span.Set(trace.Filtered, n.filtered)
	span.Set(trace.Dead, n.dead)
	span.Set(trace.Duplicate, n.duplicate)
}
