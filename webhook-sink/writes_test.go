package webhooksink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// refuse lets the broker refuse writes to a topic, count times or, for -1, until
// the fault is removed.
func (p *plant) refuse(topic string, err *kerr.Error, count int) *kfake.FaultHandle {
	return p.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: err, Count: count})
}

// TestAFailedWriteIsTriedUntilItSucceeds: the retry topic can't be written for
// two minutes. The event is not finished, so its offset is not passed; and other
// events are delivered as ever.
func TestAFailedWriteIsTriedUntilItSucceeds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.ensure("webhook-retry.5s")
		fault := p.refuse("webhook-retry.5s", kerr.TopicAuthorizationFailed, -1)
		l := newLedger(time.Millisecond)
		l.answer = func(_, messageID string, attempt int) outcome.Outcome {
			if messageID == "fails" && attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		p.produce("crm", "a", "fails")
		p.produce("crm", "b", "fine")
		r := p.start(l.attempt).ready()
		virtual.Sleep(2 * time.Minute)
		if got := l.all(); len(got) != 1 || got[0] != "fine" {
			t.Errorf("delivered %v, expected the other event alone", got)
		}
		if got := p.committed(0); got != 0 {
			t.Errorf("committed %d, though the event at 0 is written nowhere", got)
		}
		if got := r.metric("write_errors_total"); got < 20 || got > 40 {
			t.Errorf("%v failed writes in two minutes, expected about one in five seconds", got)
		}
		fault.Remove()
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "the event to be retried")
		virtual.Sleep(2 * time.Second)
		if got := p.committed(0); got != 2 {
			t.Errorf("committed %d, expected 2", got)
		}
		r.end()
	})
}

// TestAStopWhileAWriteFails: the event stays where it is.
func TestAStopWhileAWriteFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.ensure("webhook-retry.5s")
		p.refuse("webhook-retry.5s", kerr.TopicAuthorizationFailed, -1)
		l := newLedger(time.Millisecond)
		l.answer = func(string, string, int) outcome.Outcome { return failed(schemas.ReasonStatus5xx) }
		p.produce("crm", "a", "fails")
		r := p.start(l.attempt).ready()
		testkit.Until(t, func() bool { return r.metric("write_errors_total") > 0 }, "a write to fail")
		began := time.Now()
		r.end()
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("stopping took %s, expected at most 8s", took)
		}
		if got := p.committed(0); got != 0 {
			t.Errorf("committed %d, though the event at 0 is written nowhere", got)
		}
	})
}

// tooLarge are the codes by which brokers refuse a record for its size.
var tooLarge = []*kerr.Error{kerr.MessageTooLarge, kerr.RecordListTooLarge}

// TestARecordTooLargeToRetryIsADeadLetter: with its retry headers it does not fit
// any more.
func TestARecordTooLargeToRetryIsADeadLetter(t *testing.T) {
	t.Parallel()
	for _, refusal := range tooLarge {
		t.Run(refusal.Message, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
				p.ensure("webhook-retry.5s", schemas.TopicDeadLetters)
				p.refuse("webhook-retry.5s", refusal, 2) // in company and alone
				l := newLedger(time.Millisecond)
				l.answer = func(string, string, int) outcome.Outcome { return failed(schemas.ReasonStatus5xx) }
				p.produce("crm", "a", "large")
				r := p.start(l.attempt)
				h := p.deadLetters(1)[0]
				r.end()
				if h.Reason != schemas.ReasonRecordTooLarge || h.Reference || h.Attempt != 1 {
					t.Errorf("dead letter %+v, expected a whole one for record_too_large", h)
				}
			})
		})
	}
}

// TestADeadLetterTooLargeIsAReference: the value can still be read where it stood.
func TestADeadLetterTooLargeIsAReference(t *testing.T) {
	t.Parallel()
	for _, refusal := range tooLarge {
		t.Run(refusal.Message, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
				p.ensure(schemas.TopicDeadLetters)
				p.refuse(schemas.TopicDeadLetters, refusal, 2) // in company and alone
				l := newLedger(time.Millisecond)
				l.answer = func(string, string, int) outcome.Outcome {
					return outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "status 410"}
				}
				p.produce("crm", "a", "first", "large")
				r := p.start(l.attempt)
				letters := p.cluster.ReadAll(t, schemas.TopicDeadLetters, 2)
				r.end()
				h := headersOf(t, letters[0])
				if !h.Reference || len(letters[0].Value) != 0 || h.Reason != schemas.ReasonStatus4xx ||
					h.From != (schemas.Position{Topic: "deliver.crm", Partition: 0, Offset: 0}) {
					t.Errorf("dead letter %+v of %d bytes, expected a reference to deliver.crm[0]@0", h, len(letters[0].Value))
				}
			})
		})
	}
}

// TestMetadataTheBrokerDoesNotTake: the offsets are committed all the same.
func TestMetadataTheBrokerDoesNotTake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.cluster.Fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.OffsetCommit}, Group: Group, Err: kerr.OffsetMetadataTooLarge, Count: -1,
			When: func(req kmsg.Request) bool {
				for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
					for _, partition := range topic.Partitions {
						if partition.Metadata != nil && *partition.Metadata != "" {
							return true
						}
					}
				}
				return false
			},
		})
		slow := newLedger(time.Millisecond)
		slow.answer = func(_, messageID string, _ int) outcome.Outcome {
			if messageID == "slow" {
				virtual.Sleep(4 * time.Second)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		p.produce("crm", "a", "fast")
		p.produce("crm", "b", "slow")
		p.produce("crm", "c", "behind")
		r := p.start(slow.attempt).ready()
		virtual.Sleep(3 * time.Second)
		if got := p.committed(0); got != 1 {
			t.Errorf("committed %d, expected 1", got)
		}
		r.end()
	})
}
