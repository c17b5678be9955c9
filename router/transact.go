package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	begun     time.Time
	writes    *writes
	held      map[string][]write // by topic: what must not share a batch with more
	spoiled   bool               // something was refused: it can't commit
	bytes     int                // that were written
	fetches   []kgo.Fetches
	decisions []decision
	spans     []trace.Span // of what is traced; they end with the commit
}

// write produces out, which was made from rec.
func (r *Router) write(ctx context.Context, b *batch, rec, out *kgo.Record) {
	b.bytes += sizeOf(out)
	next := write{rec, out}
	if _, limited := r.limits.of(out.Topic, b.begun); limited {
		b.held[out.Topic] = append(b.held[out.Topic], next)
		return
	}
	b.writes.send(ctx, next, false)
}

// transact routes the records, and what else has been fetched, in one transaction.
// False with no error means that nothing of it happened: the session has rewound and
// the same records come again. ctx must outlive the request to stop: a session whose
// End was cancelled is in an unknown state.
func (r *Router) transact(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches) (bool, error) {
	if err := s.Begin(); err != nil {
		return false, fmt.Errorf("begin transaction: %w", err)
	}
	w, writing := newWrites(ctx, s)
	defer w.stop()
	b := &batch{begun: time.Now(), writes: w, held: make(map[string][]write)}
	watched := r.watch(writing, b)
	defer watched()
	r.begun = b.begun
	if err := r.fill(writing, b, s, fetches); err != nil {
		return false, err
	}
	err := w.wait(writing)
	watched()
	all := slices.Concat(b.fetches...)
	behind := r.marks.behind(all)
	commit := err == nil && !b.spoiled
	committed, endErr := r.conclude(kgo.PreTxnCommitFnContext(ctx, annotate(behind)), s, commit)
	r.halvings = halve(r.halvings, time.Since(b.begun), r.cfg.TransactionTimeout)
	switch {
	case endErr != nil:
		if commit {
			r.forgotten.doubted(behind, w.witness)
		}
		r.blame(b)
		return false, fmt.Errorf("end transaction: %w", endErr)
	case !committed:
		r.begun = time.Time{}
		r.metrics.abort(b.begun)
		return false, r.learn(b)
	}
	r.begun = time.Time{}
	r.committed(b, all, behind)
	return true, nil
}

// fill routes what was fetched, and then what waits fetched, until the transaction
// is full. An error means that the session is of no more use.
func (r *Router) fill(ctx context.Context, b *batch, s *kgo.GroupTransactSession, fetches kgo.Fetches) error {
	left := r.full.halved(r.halvings)
	for fetches.NumRecords() > 0 {
		bytes, n := b.bytes, len(b.decisions)
		r.routeAll(ctx, b, fetches)
		left.read -= fetches.NumRecords()
		left.written -= len(b.decisions) - n
		left.bytes -= b.bytes - bytes
		more := left.next(r.plan.fanOut)
		if more == 0 || b.spoiled || b.writes.over() || time.Since(b.begun) > r.cfg.TransactionTimeout/4 {
			break
		}
		fetches = s.PollRecords(atOnce, more) //nolint:contextcheck // it is not to wait
		if err := r.fetchError(ctx, fetches); err != nil {
			return err
		}
		// As before the first poll: these may be the first events of a source or of a
		// destination that has come meanwhile. The brokers do not wait for a transaction
		// as long as a source may be waited for.
		if !r.sources.await(ctx, r.set.Workspace, fetches, min(r.sourceWait, r.cfg.TransactionTimeout/4)) {
			break // it can't commit any more, and these come again with the others
		}
		if err := r.prepare(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// atOnce has a poll return with what is there: so the client understands a context
// that is nil.
var atOnce context.Context

func (r *Router) routeAll(ctx context.Context, b *batch, fetches kgo.Fetches) {
	b.fetches = append(b.fetches, fetches)
	r.backlog.polled(fetches)
	fetches.EachRecord(func(rec *kgo.Record) {
		if !rec.Attrs.IsControl() {
			r.route(ctx, b, rec)
		}
	})
	r.writeHeld(ctx, b)
}

// conclude ends the transaction. To abort one takes an answer for whatever is under way,
// which a broker that is gone does not give.
func (r *Router) conclude(ctx context.Context, s *kgo.GroupTransactSession, commit bool) (bool, error) {
	if !commit {
		bounded, done := context.WithTimeout(ctx, r.cfg.TransactionTimeout/2)
		defer done()
		ctx = bounded
	}
	return s.End(ctx, kgo.TransactionEndTry(commit))
}

// committed notes what the transaction did, now that it counts: all that was fetched for
// it is routed up to the marks.
func (r *Router) committed(b *batch, all kgo.Fetches, behind map[int32]mark) {
	r.gathering.committed(all.NumRecords(), b.begun, time.Now())
	r.forgotten.committed(behind)
	r.marks.routed(behind)
	r.backlog.routed(all)
	r.metrics.commit(b.decisions, b.begun)
	for _, span := range b.spans {
		span.End()
	}
	clear(r.refused)
	clear(r.strikes)
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
			r.write(ctx, b, rec, out)
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

// learn draws the lesson of an aborted transaction, so that the same records do not
// abort the next one in the same way. An error means that it takes a new session for
// that.
func (r *Router) learn(b *batch) error {
	oversized := r.oversize(b.writes.takeRefused())
	failed := r.blame(b)
	switch {
	case failed == nil:
		if !oversized && !b.spoiled {
			r.log.Info("transaction aborted by a rebalance, its events are routed again", "events", len(b.decisions))
		}
	case errors.Is(failed.err, kerr.UnknownTopicID):
		r.plan = nil
		return fmt.Errorf("topic %s was deleted or made anew: %w", failed.topic, failed.err)
	case errors.Is(failed.err, kerr.UnknownTopicOrPartition):
		r.plan = nil
		fallthrough
	default:
		r.log.Warn("transaction aborted by a failed write, its events are routed again", "topic", failed.topic, "error", failed.err)
	}
	return nil
}

func position(rec *kgo.Record) schemas.Position {
	return schemas.Position{Topic: rec.Topic, Partition: rec.Partition, Offset: rec.Offset}
}
