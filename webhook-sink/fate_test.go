package webhooksink

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// firstAttempt is a job of deliver.<id> that holds a slot.
func firstAttempt(id string) *job {
	return &job{part: newPartition(place{topic: schemas.DeliverTopic(id)}, offsets.Done{}), record: event(id, "user", "m1", 0), attempt: true}
}

// retryOf is a job of a retry topic, due at noon after three attempts, the first
// an hour ago.
func retryOf(id string, holds bool) *job {
	return &job{
		part: newPartition(place{topic: "webhook-retry.2m"}, offsets.Done{}), record: event(id, "user", "m1", 0), attempt: holds,
		headers: schemas.Headers{Destination: id, Attempt: 3, FirstAttempt: noon.Add(-time.Hour), Due: noon, Reason: schemas.ReasonTimeout},
	}
}

func TestJudge(t *testing.T) {
	off := destination("off")
	off.Enabled = false
	ws := snapshot(destination("crm"), off)
	tests := []struct {
		name   string
		job    *job
		change func(*job)
		ending ending // 0: to be attempted
		reason schemas.Reason
		topic  string
	}{
		{name: "first attempt", job: firstAttempt("crm")},
		{name: "retry with a slot", job: retryOf("crm", true)},
		{name: "retry without a slot", job: retryOf("crm", false), ending: endHopped, topic: "webhook-retry.5s", reason: schemas.ReasonTimeout},
		{name: "removed", job: firstAttempt("gone"), ending: endDead, reason: schemas.ReasonDestinationRemoved},
		{name: "retry of removed", job: retryOf("gone", false), ending: endDead, reason: schemas.ReasonDestinationRemoved},
		{name: "switched off", job: firstAttempt("off"), ending: endDead, reason: schemas.ReasonDestinationDisabled},
		{name: "retry of switched off", job: retryOf("off", true), ending: endDead, reason: schemas.ReasonDestinationDisabled},
		{name: "unreadable", job: firstAttempt("crm"), change: func(j *job) { j.err = errors.New("decode x[0]@1: bad") }, ending: endDead, reason: schemas.ReasonRecordInvalid},
		{name: "retry for nobody", job: retryOf("", false), ending: endDead, reason: schemas.ReasonRecordInvalid},
		{name: "window over", job: retryOf("crm", true), change: func(j *job) { j.headers.FirstAttempt = noon.Add(-4*time.Hour - 1) }, ending: endDead, reason: schemas.ReasonWindowExceeded},
		{name: "last moment of the window", job: retryOf("crm", true), change: func(j *job) { j.headers.FirstAttempt = noon.Add(-4 * time.Hour) }},
		{name: "last moment without a slot", job: retryOf("crm", false), change: func(j *job) { j.headers.FirstAttempt = noon.Add(-4 * time.Hour) }, ending: endDead, reason: schemas.ReasonWindowExceeded},
		{name: "due later", job: retryOf("crm", false), change: func(j *job) { j.headers.Due = noon.Add(11 * time.Minute) }, ending: endHopped, topic: "webhook-retry.10m", reason: schemas.ReasonTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(tt.job)
			}
			dest, f := fixed(middle).judge(tt.job, ws, noon)
			if (dest != nil) != (tt.ending == 0) {
				t.Fatalf("destination %v, fate %+v; expected an attempt: %t", dest, f, tt.ending == 0)
			}
			if f.ending != tt.ending || f.topic != tt.topic || tt.ending != 0 && f.headers.Reason != tt.reason {
				t.Errorf("fate %+v, expected %d to %q for %q", f, tt.ending, tt.topic, tt.reason)
			}
		})
	}
}

// TestAHopIsNoAttempt: what a record knows of its attempts stays as it is.
func TestAHopIsNoAttempt(t *testing.T) {
	j := retryOf("crm", false)
	_, f := fixed(middle).judge(j, snapshot(destination("crm")), noon)
	want := j.headers
	want.Due = noon.Add(5 * time.Second)
	if diff := cmp.Diff(want, f.headers); diff != "" {
		t.Errorf("headers after a hop (-want +got):\n%s", diff)
	}
}

var status503 = outcome{verdict: retry, reason: schemas.ReasonStatus5xx, detail: "status 503", endpoints: []uint64{7}}

func TestTheFirstFailureStartsTheWindow(t *testing.T) {
	later := noon.Add(time.Second)
	f := fixed(middle).after(schemas.Headers{Destination: "crm"}, status503, noon, later)
	want := fate{ending: endRetried, topic: "webhook-retry.5s", headers: schemas.Headers{
		Destination: "crm", Attempt: 1, FirstAttempt: noon, Due: later.Add(5 * time.Second),
		Reason: schemas.ReasonStatus5xx, Detail: "status 503", Endpoints: []uint64{7},
	}}
	if diff := cmp.Diff(want, f, cmp.AllowUnexported(fate{})); diff != "" {
		t.Errorf("fate (-want +got):\n%s", diff)
	}
}

func TestLaterFailuresKeepTheWindow(t *testing.T) {
	f := fixed(middle).after(retryOf("crm", true).headers, status503, noon, noon)
	if f.headers.FirstAttempt != noon.Add(-time.Hour) || f.headers.Attempt != 4 || f.topic != "webhook-retry.5m" {
		t.Errorf("fate %+v, expected attempt 4 of the window that began an hour ago", f)
	}
}

func TestAFirstAttemptInTheFutureIsNow(t *testing.T) {
	h := retryOf("crm", true).headers
	h.FirstAttempt = noon.Add(time.Hour)
	if f := fixed(middle).after(h, status503, noon, noon); f.headers.FirstAttempt != noon {
		t.Errorf("first attempt %s, expected %s", f.headers.FirstAttempt, noon)
	}
}

func TestTheWindowIsExceeded(t *testing.T) {
	h := retryOf("crm", true).headers
	h.FirstAttempt = noon.Add(-4*time.Hour + time.Minute)
	f := fixed(middle).after(h, status503, noon, noon)
	if f.ending != endDead || f.headers.Reason != schemas.ReasonWindowExceeded || !f.headers.Due.IsZero() {
		t.Errorf("fate %+v, expected window_exceeded", f)
	}
	for _, part := range []string{"4 attempts", "status_5xx", "status 503"} {
		if !strings.Contains(f.headers.Detail, part) {
			t.Errorf("detail %q, expected %q in it", f.headers.Detail, part)
		}
	}
}

func TestFinalOutcomes(t *testing.T) {
	tests := []struct {
		outcome outcome
		ending  ending
		reason  schemas.Reason
	}{
		{outcome{verdict: delivered}, endDelivered, ""},
		{outcome{verdict: dead, reason: schemas.ReasonStatus4xx, detail: "status 410"}, endDead, schemas.ReasonStatus4xx},
		{outcome{verdict: abandoned}, endUnfinished, ""},
	}
	for _, tt := range tests {
		f := fixed(middle).after(schemas.Headers{}, tt.outcome, noon, noon)
		if f.ending != tt.ending || f.headers.Reason != tt.reason || f.headers.Attempt != 1 {
			t.Errorf("outcome %+v: fate %+v, expected %d for %q after one attempt", tt.outcome, f, tt.ending, tt.reason)
		}
	}
}

func TestAttemptsStopCountingAtTheLimit(t *testing.T) {
	h := schemas.Headers{Attempt: schemas.MaxAttempts, FirstAttempt: noon}
	f := fixed(middle).after(h, outcome{verdict: retry, reason: schemas.ReasonTimeout}, noon, noon)
	if f.headers.Attempt != schemas.MaxAttempts {
		t.Errorf("attempt %d, expected %d: more could not be read back", f.headers.Attempt, schemas.MaxAttempts)
	}
}

// TestTooLargeEndsAsAReference follows a record that the broker takes in no form
// that has a value.
func TestTooLargeEndsAsAReference(t *testing.T) {
	j := firstAttempt("crm")
	f := fate{ending: endRetried, topic: "webhook-retry.5s", headers: schemas.Headers{Destination: "crm", MessageID: "m1", Attempt: 1}}
	f = f.tooLarge()
	if r := f.record(j, noon); r.Topic != schemas.TopicDeadLetters || f.headers.Reason != schemas.ReasonRecordTooLarge || len(r.Value) == 0 {
		t.Fatalf("fate %+v, record %v; expected a whole dead letter for record_too_large", f, r)
	}
	f = f.tooLarge()
	r := f.record(j, noon)
	if r.Topic != schemas.TopicDeadLetters || r.Value != nil || !headersOf(t, r).Reference {
		t.Fatalf("record %v, expected a dead letter that refers to the value", r)
	}
}

func TestTooLargeKeepsTheReasonOfTheDead(t *testing.T) {
	f := deadFor(schemas.Headers{Destination: "crm"}, schemas.ReasonStatus4xx, "status 400").tooLarge()
	if f.headers.Reason != schemas.ReasonStatus4xx || !f.headers.Reference {
		t.Errorf("fate %+v, expected a reference for status_4xx", f)
	}
}

func TestRetryRecordIsTheEventWithNewHeaders(t *testing.T) {
	j := firstAttempt("crm")
	j.read()
	h := j.headers
	h.Destination, h.Attempt, h.FirstAttempt, h.Due = "crm", 1, noon, noon.Add(time.Minute)
	r := fate{ending: endRetried, topic: "webhook-retry.30s", headers: h}.record(j, noon)
	if r.Topic != "webhook-retry.30s" || string(r.Key) != "user" || string(r.Value) != string(j.record.Value) {
		t.Errorf("record %v, expected the event on webhook-retry.30s", r)
	}
	if diff := cmp.Diff(h, headersOf(t, r)); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func headersOf(t *testing.T, r *kgo.Record) schemas.Headers {
	t.Helper()
	h, err := kafka.HeadersOf(r)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
