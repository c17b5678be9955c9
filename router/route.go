package router

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/runner"
	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
)

// route writes the record wherever decide says.
func (s *stage) route(ctx context.Context, t *runner.Transaction, rec *kgo.Record) {
	n, p := len(s.decisions), s.table.Load()
	h, err := kafka.HeadersOf(rec)
	switch {
	case s.copies != nil && s.copies.Is(rec):
		s.decisions = append(s.decisions, decision{result: duplicate})
	case err != nil:
		s.decisions = append(s.decisions, decision{result: dead, reason: kafka.ReasonOf(err), detail: err.Error()})
	default:
		s.decisions = s.filter.decide(s.decisions, &h, p.workspace, p.topics)
	}
	span := s.follow(rec.Topic, &h)
	var headers []kgo.RecordHeader // one for all destinations
	for i := range s.decisions[n:] {
		d := &s.decisions[n+i]
		if d.result == routed && t.Refused(d.topic, rec) {
			d.result, d.reason, d.detail = dead, schemas.ReasonRecordTooLarge, "the broker refused the record as too large"
		}
		if d.result == routed && headers == nil {
			headers = onward(rec, &h)
		}
		if out := s.output(t, rec, h, *d, headers); out != nil {
			s.publish(span, out, d.destination)
			t.Write(ctx, rec, out)
		}
	}
	if s.entries != nil {
		s.entries.note(ctx, t, rec, h.Source, s.decisions[n:])
	}
	describe(span, s.decisions[n:])
}

// output is the record to write for one decision; nil where there is none.
func (s *stage) output(t *runner.Transaction, rec *kgo.Record, h schemas.Headers, d decision, headers []kgo.RecordHeader) *kgo.Record {
	switch d.result {
	case routed:
		return &kgo.Record{Topic: d.topic, Key: rec.Key, Value: rec.Value, Headers: headers}
	case dead:
		s.bury(rec, &h, &d)
		h.Destination, h.Reason, h.Detail = d.destination, d.reason, d.detail
		if h.Received.IsZero() {
			h.Received = kafka.TakenAt(rec)
		}
		if t.Refused(schemas.TopicDeadLetters, rec) {
			return kafka.DeadLetterReference(rec, h, t.Begun())
		}
		return kafka.DeadLetter(rec, h, t.Begun())
	case filtered, unconnected, duplicate:
	}
	return nil
}

// bury logs that an event goes to dead-letters, the first of a kind at once and
// then at most one in [logging.Every]: one bad release of a client makes thousands.
func (s *stage) bury(rec *kgo.Record, h *schemas.Headers, d *decision) {
	passed, ok := s.buried.Admit(logging.Kind{Destination: d.destination, Reason: d.reason}, time.Now())
	if !ok {
		return
	}
	trace.LoggerOf(s.set.Logger, h.TraceParent).Warn("event goes to dead letters", "destination", d.destination, "reason", string(d.reason), "detail", d.detail,
		"topic", rec.Topic, "partition", rec.Partition, "offset", rec.Offset, "message_id", h.MessageID, "passed_over", passed)
}

// onward returns the headers of what goes on to destinations: those of the event,
// and when ingest took it. The timestamp of its record says that as long as the
// record stands on raw-events; kept as the timestamp of the next record it would
// count against that topic's retention, which is shorter than a long outage.
//
// Headers are added here instead of being set anew: the router understands all of
// them, and the strings they hold need not be copied for each event. Whom a call is
// narrowed to, and how old it is, is decided, and does not travel any further.
func onward(rec *kgo.Record, h *schemas.Headers) []kgo.RecordHeader {
	if h.Only != nil || !h.Happened.IsZero() {
		decided := *h
		decided.Version, decided.Only, decided.Happened = 0, nil, time.Time{}
		if decided.Received.IsZero() {
			decided.Received = kafka.TakenAt(rec)
		}
		out := new(kgo.Record)
		kafka.SetHeaders(out, &decided)
		return out.Headers
	}
	if !h.Received.IsZero() {
		return rec.Headers
	}
	added := schemas.Headers{Received: kafka.TakenAt(rec)}
	return kafka.AddHeaders(rec.Headers, &added)
}
