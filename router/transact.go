package router

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry/seldom"
	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/schemas"
)

// batch is one transaction in the making.
type batch struct {
	session   *kgo.GroupTransactSession
	promise   *kgo.FirstErrPromise
	begun     time.Time
	decisions []decision
	written   []written
	failed    failure
	spans     []trace.Span // of what is traced; they end with the commit
}

// written pairs a record with the one it was made from.
type written struct{ from, out *kgo.Record }

// refusal is a record that a topic does not take because of its size.
type refusal struct {
	topic string
	from  schemas.Position
}

// failure is the first write that failed. Promises run on the client's
// goroutine, one at a time, and are all done before it is read.
type failure struct {
	out *kgo.Record
	err error
}

func newBatch(s *kgo.GroupTransactSession) *batch {
	return &batch{session: s, begun: time.Now(), promise: kgo.AbortingFirstErrPromise(s.Client())}
}

// write produces out, which was made from rec.
func (b *batch) write(ctx context.Context, rec, out *kgo.Record) {
	b.written = append(b.written, written{rec, out})
	promise := b.promise.Promise()
	b.session.Produce(ctx, out, func(out *kgo.Record, err error) {
		if err != nil && b.failed.err == nil {
			b.failed = failure{out, err}
		}
		promise(out, err)
	})
}

// witness is a record that was written in the transaction; nil when none was.
func (b *batch) witness() *kgo.Record {
	if len(b.written) == 0 {
		return nil
	}
	return b.written[0].out
}

// transact routes the records in one transaction. False with no error means
// that nothing of it happened: the session has rewound and the same records
// come again. ctx must outlive the request to stop: a session whose End was
// cancelled is in an unknown state.
func (r *Router) transact(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches) (bool, error) {
	if err := s.Begin(); err != nil {
		return false, fmt.Errorf("begin transaction: %w", err)
	}
	b := newBatch(s)
	r.backlog.polled(fetches)
	fetches.EachRecord(func(rec *kgo.Record) {
		if !rec.Attrs.IsControl() {
			r.route(ctx, b, rec)
		}
	})
	err := b.promise.Err()
	behind := r.marks.behind(fetches)
	committed, endErr := s.End(kgo.PreTxnCommitFnContext(ctx, annotate(behind)), kgo.TransactionEndTry(err == nil))
	switch {
	case endErr != nil:
		if err == nil { // the end that was asked for is a commit
			r.forgotten.doubted(fetches, b.witness())
		}
		return false, fmt.Errorf("end transaction: %w", endErr)
	case !committed:
		r.metrics.abort(b.begun)
		return false, r.learn(b)
	}
	r.backlog.routed(fetches)
	r.forgotten.committed(fetches)
	r.marks.routed(behind)
	r.metrics.commit(b.decisions, b.begun)
	for _, span := range b.spans {
		span.End()
	}
	clear(r.refused)
	return true, nil
}

// route writes the record wherever decide says.
func (r *Router) route(ctx context.Context, b *batch, rec *kgo.Record) {
	n := len(b.decisions)
	h, err := kafka.HeadersOf(rec)
	if err != nil {
		b.decisions = append(b.decisions, decision{result: dead, reason: kafka.ReasonOf(err), detail: err.Error()})
	} else {
		b.decisions = r.filter.decide(b.decisions, &h, r.plan.workspace, r.plan.topics)
	}
	span := r.follow(b, rec.Topic, &h)
	var headers []kgo.RecordHeader // one for all destinations
	for i := range b.decisions[n:] {
		d := &b.decisions[n+i]
		if d.result == routed && r.refused[refusal{schemas.DeliverTopic(d.destination), position(rec)}] {
			d.result, d.reason, d.detail = dead, schemas.ReasonRecordTooLarge, "the broker refused the record as too large"
		}
		if d.result == routed && headers == nil {
			headers = onward(rec, &h)
		}
		if out := r.output(b, rec, h, *d, headers); out != nil {
			r.publish(b, span, out)
			b.write(ctx, rec, out)
		}
	}
	describe(span, b.decisions[n:])
}

// output is the record to write for one decision; nil where there is none.
func (r *Router) output(b *batch, rec *kgo.Record, h schemas.Headers, d decision, headers []kgo.RecordHeader) *kgo.Record {
	switch d.result {
	case routed:
		return &kgo.Record{Topic: schemas.DeliverTopic(d.destination), Key: rec.Key, Value: rec.Value, Headers: headers}
	case dead:
		r.bury(rec, &h, &d)
		h.Destination, h.Reason, h.Detail = d.destination, d.reason, d.detail
		if h.Received.IsZero() {
			h.Received = takenAt(rec)
		}
		if r.refused[refusal{schemas.TopicDeadLetters, position(rec)}] {
			return kafka.DeadLetterReference(rec, h, b.begun)
		}
		return kafka.DeadLetter(rec, h, b.begun)
	case filtered, unconnected:
	}
	return nil
}

// bury logs that an event goes to dead-letters, the first of a kind at once and
// then at most one in [seldom.Every]: one bad release of a client makes thousands.
func (r *Router) bury(rec *kgo.Record, h *schemas.Headers, d *decision) {
	passed, ok := r.buried.Admit(seldom.Kind{Destination: d.destination, Reason: d.reason}, time.Now())
	if !ok {
		return
	}
	trace.LoggerOf(r.log, h.TraceParent).Warn("event goes to dead letters", "destination", d.destination, "reason", string(d.reason), "detail", d.detail,
		"topic", rec.Topic, "partition", rec.Partition, "offset", rec.Offset, "message_id", h.MessageID, "passed_over", passed)
}

// learn draws the lesson of an aborted transaction, so that the same records
// do not abort the next one in the same way. An error means that it takes a new
// session for that.
func (r *Router) learn(b *batch) error {
	err := b.failed.err
	switch {
	case err == nil:
		r.log.Info("transaction aborted by a rebalance, its events are routed again", "events", len(b.decisions))
	case errors.Is(err, kerr.MessageTooLarge):
		for _, w := range b.written {
			if w.out == b.failed.out {
				r.refused[refusal{w.out.Topic, position(w.from)}] = true
			}
		}
	case errors.Is(err, kerr.UnknownTopicID):
		r.plan = nil
		return fmt.Errorf("topic %s was deleted or made anew: %w", b.failed.out.Topic, err)
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		r.plan = nil
		fallthrough
	default:
		r.log.Warn("transaction aborted by a failed write, its events are routed again", "topic", b.failed.out.Topic, "error", err)
	}
	return nil
}

func position(rec *kgo.Record) schemas.Position {
	return schemas.Position{Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset}
}
