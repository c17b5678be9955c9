package schedule

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// firstAttempt is the case of a record of deliver.<id> that holds a slot.
func firstAttempt(id string) Case {
	return Case{Headers: schemas.Headers{Destination: id, MessageID: "m1"}, Slot: true}
}

// retryOf is the case of a retry, due at noon after three attempts, the first an
// hour ago.
func retryOf(id string, slot bool) Case {
	return Case{Slot: slot, Headers: schemas.Headers{
		Destination: id, Attempt: 3, FirstAttempt: noon.Add(-time.Hour), Due: noon, Reason: schemas.ReasonTimeout,
	}}
}

func destination(id string, enabled bool) workspace.Destination {
	return workspace.Destination{
		ID: id, Type: workspace.TypeWebhooks, Name: id, Enabled: enabled,
		Endpoints: []workspace.Endpoint{{URL: "http://" + id + ".test/"}},
	}
}

func TestJudge(t *testing.T) {
	ws := workspace.NewSnapshot(nil, []workspace.Destination{destination("crm", true), destination("off", false), {ID: "topic", Type: workspace.TypeTopic, Enabled: true}})
	tests := []struct {
		name   string
		of     Case
		change func(*Case)
		ending Ending // 0: to be attempted
		reason schemas.Reason
		topic  string
	}{
		{name: "first attempt", of: firstAttempt("crm")},
		{name: "retry with a slot", of: retryOf("crm", true)},
		{name: "retry with a slot in a minute", of: retryOf("crm", false), change: func(c *Case) { c.Reserved = noon.Add(time.Minute) }, ending: Hopped, topic: "webhook-retry.30s", reason: schemas.ReasonTimeout},
		{name: "removed", of: firstAttempt("gone"), ending: Dead, reason: schemas.ReasonDestinationRemoved},
		{name: "retry of removed", of: retryOf("gone", false), ending: Dead, reason: schemas.ReasonDestinationRemoved},
		{name: "retry of one that may be new", of: retryOf("gone", true), change: func(c *Case) { c.Headers.FirstAttempt = noon.Add(1 - time.Minute) }, ending: Hopped, topic: "webhook-retry.5s", reason: schemas.ReasonTimeout},
		{name: "retry of one that is not new", of: retryOf("gone", true), change: func(c *Case) { c.Headers.FirstAttempt = noon.Add(-time.Minute) }, ending: Dead, reason: schemas.ReasonDestinationRemoved},
		{name: "a topic since", of: firstAttempt("topic"), ending: Dead, reason: schemas.ReasonDestinationRemoved},
		{name: "retry of a topic since", of: retryOf("topic", true), ending: Dead, reason: schemas.ReasonDestinationRemoved},
		{name: "switched off", of: firstAttempt("off"), ending: Dead, reason: schemas.ReasonDestinationDisabled},
		{name: "retry of switched off", of: retryOf("off", true), ending: Dead, reason: schemas.ReasonDestinationDisabled},
		{name: "unreadable", of: firstAttempt("crm"), change: func(c *Case) { c.Err = errors.New("decode x[0]@1: bad") }, ending: Dead, reason: schemas.ReasonRecordInvalid},
		{name: "of a later release", of: retryOf("crm", true), change: func(c *Case) { c.Err = fmt.Errorf("decode x[0]@1: %w", &schemas.VersionError{Version: 3}) }, ending: Dead, reason: schemas.ReasonVersionUnknown},
		{name: "retry for nobody", of: retryOf("", false), ending: Dead, reason: schemas.ReasonRecordInvalid},
		{name: "window over", of: retryOf("crm", true), change: func(c *Case) { c.Headers.FirstAttempt = noon.Add(-4*time.Hour - 1) }, ending: Dead, reason: schemas.ReasonWindowExceeded},
		{name: "last moment of the window", of: retryOf("crm", true), change: func(c *Case) { c.Headers.FirstAttempt = noon.Add(-4 * time.Hour) }},
		{name: "due later", of: retryOf("crm", false), change: func(c *Case) { c.Headers.Due = noon.Add(11 * time.Minute) }, ending: Hopped, topic: "webhook-retry.10m", reason: schemas.ReasonTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change != nil {
				tt.change(&tt.of)
			}
			dest, f := fixed(middle).Judge(tt.of, ws, noon)
			if (dest != nil) != (tt.ending == 0) {
				t.Fatalf("destination %v, fate %+v; expected an attempt: %t", dest, f, tt.ending == 0)
			}
			if f.Ending != tt.ending || f.Topic != tt.topic || tt.ending != 0 && f.Headers.Reason != tt.reason {
				t.Errorf("fate %+v, expected %d to %q for %q", f, tt.ending, tt.topic, tt.reason)
			}
		})
	}
}

func judged(c Case, now time.Time) Fate {
	_, f := fixed(middle).Judge(c, workspace.NewSnapshot(nil, []workspace.Destination{destination("crm", true)}), now)
	return f
}

// TestAReservationIsNoAttempt: what a record knows of its attempts stays as it is.
func TestAReservationIsNoAttempt(t *testing.T) {
	c := retryOf("crm", false)
	c.Reserved = noon.Add(7 * time.Second)
	want := c.Headers
	want.Due, want.Reserved = c.Reserved, true
	if diff := cmp.Diff(want, judged(c, noon).Headers); diff != "" {
		t.Errorf("headers after a reservation (-want +got):\n%s", diff)
	}
}

// TestAHopKeepsItsReservation: a record that is put on before its slot does not
// ask for another.
func TestAHopKeepsItsReservation(t *testing.T) {
	c := retryOf("crm", false)
	c.Headers.Due, c.Headers.Reserved = noon.Add(time.Hour), true
	f := judged(c, noon)
	if diff := cmp.Diff(c.Headers, f.Headers); diff != "" || f.Topic != "webhook-retry.15m" {
		t.Errorf("put on %s, expected the longest; headers (-want +got):\n%s", f.Topic, diff)
	}
}

// TestAReservationStaysInsideTheWindow: a slot that comes too late is moved to the
// end of the window, where the event takes its chance.
func TestAReservationStaysInsideTheWindow(t *testing.T) {
	c := retryOf("crm", false)
	c.Headers.FirstAttempt = noon.Add(-4*time.Hour + time.Minute)
	c.Reserved = noon.Add(time.Hour)
	f := judged(c, noon)
	// One and a half of the shortest delay before the end, by the middle of the jitter.
	if want := noon.Add(time.Minute - 7500*time.Millisecond); f.Ending != Hopped || !f.Headers.Due.Equal(want) {
		t.Errorf("fate %+v, expected a hop due at %s", f, want)
	}
	c.Headers.FirstAttempt = noon.Add(-4*time.Hour + time.Second)
	if f = judged(c, noon); f.Ending != Hopped || f.Headers.Due.Before(noon) || f.Headers.Due.After(noon.Add(time.Second)) {
		t.Errorf("a second before the end: fate %+v, expected a hop due within it", f)
	}
}

var status503 = outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Detail: "status 503", Endpoints: []uint64{7}}

func TestTheFirstFailureStartsTheWindow(t *testing.T) {
	later := noon.Add(time.Second)
	f := fixed(middle).After(schemas.Headers{Destination: "crm"}, status503, noon, later)
	want := Fate{Ending: Retried, Topic: "webhook-retry.5s", Headers: schemas.Headers{
		Destination: "crm", Attempt: 1, FirstAttempt: noon, Due: later.Add(5 * time.Second),
		Reason: schemas.ReasonStatus5xx, Detail: "status 503", Endpoints: []uint64{7},
	}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("fate (-want +got):\n%s", diff)
	}
}

func TestLaterFailuresKeepTheWindow(t *testing.T) {
	f := fixed(middle).After(retryOf("crm", true).Headers, status503, noon, noon)
	if f.Headers.FirstAttempt != noon.Add(-time.Hour) || f.Headers.Attempt != 4 || f.Topic != "webhook-retry.5m" {
		t.Errorf("fate %+v, expected attempt 4 of the window that began an hour ago", f)
	}
}

func TestAFirstAttemptInTheFutureIsNow(t *testing.T) {
	h := retryOf("crm", true).Headers
	h.FirstAttempt = noon.Add(time.Hour)
	if f := fixed(middle).After(h, status503, noon, noon); f.Headers.FirstAttempt != noon {
		t.Errorf("first attempt %s, expected %s", f.Headers.FirstAttempt, noon)
	}
}

func TestTheWindowIsExceeded(t *testing.T) {
	h := retryOf("crm", true).Headers
	h.FirstAttempt = noon.Add(-4*time.Hour + time.Minute)
	h.Reserved = true
	f := fixed(middle).After(h, status503, noon, noon)
	if f.Ending != Dead || f.Headers.Reason != schemas.ReasonWindowExceeded || !f.Headers.Due.IsZero() || f.Headers.Reserved {
		t.Errorf("fate %+v, expected window_exceeded", f)
	}
	for _, part := range []string{"within 4h", "attempts: 4", "status_5xx", "status 503"} {
		if !strings.Contains(f.Headers.Detail, part) {
			t.Errorf("detail %q, expected %q in it", f.Headers.Detail, part)
		}
	}
}

func TestFinalOutcomes(t *testing.T) {
	tests := []struct {
		outcome outcome.Outcome
		ending  Ending
		reason  schemas.Reason
	}{
		{outcome.Outcome{Verdict: outcome.Delivered}, Delivered, ""},
		{outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "status 410"}, Dead, schemas.ReasonStatus4xx},
		{outcome.Outcome{Verdict: outcome.Abandoned}, Unfinished, ""},
	}
	for _, tt := range tests {
		f := fixed(middle).After(schemas.Headers{}, tt.outcome, noon, noon)
		if f.Ending != tt.ending || f.Headers.Reason != tt.reason || f.Headers.Attempt != 1 {
			t.Errorf("outcome %+v: fate %+v, expected %d for %q after one attempt", tt.outcome, f, tt.ending, tt.reason)
		}
	}
}

// TestAWithheldAttemptIsNone: it counts on its own, begins the window, and takes
// the place of an attempt in the row of delays.
func TestAWithheldAttemptIsNone(t *testing.T) {
	withheld := outcome.Outcome{Verdict: outcome.Withheld, Until: noon.Add(time.Second)}
	f := fixed(middle).After(schemas.Headers{Destination: "crm"}, withheld, noon, noon)
	want := Fate{Ending: Withheld, Topic: "webhook-retry.5s", Headers: schemas.Headers{
		Destination: "crm", Withheld: 1, FirstAttempt: noon, Due: noon.Add(5 * time.Second),
	}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Fatalf("fate (-want +got):\n%s", diff)
	}
	h := retryOf("crm", true).Headers
	f = fixed(middle).After(h, withheld, noon, noon)
	if f.Headers.Attempt != 3 || f.Headers.Withheld != 1 || f.Topic != "webhook-retry.5m" || f.Headers.Reason != schemas.ReasonTimeout {
		t.Errorf("fate %+v, expected three attempts and the fourth delay, for the same reason", f)
	}
}

func TestAttemptsStopCountingAtTheLimit(t *testing.T) {
	h := schemas.Headers{Attempt: schemas.MaxAttempts, Withheld: schemas.MaxAttempts, FirstAttempt: noon}
	f := fixed(middle).After(h, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout}, noon, noon)
	if f.Headers.Attempt != schemas.MaxAttempts {
		t.Errorf("attempt %d, expected %d: more could not be read back", f.Headers.Attempt, schemas.MaxAttempts)
	}
	f = fixed(middle).After(h, outcome.Outcome{Verdict: outcome.Withheld}, noon, noon)
	if f.Headers.Withheld != schemas.MaxAttempts {
		t.Errorf("withheld %d, expected %d: more could not be read back", f.Headers.Withheld, schemas.MaxAttempts)
	}
}

// fetched is a record as the router wrote it.
func fetched() *kgo.Record {
	r := &kgo.Record{Topic: schemas.DeliverTopic("crm"), Key: []byte("user"), Value: []byte(`{"type":"track"}`)}
	kafka.SetHeaders(r, &schemas.Headers{Source: "website", Type: schemas.TypeTrack, MessageID: "m1", Origin: schemas.OriginAPI})
	return r
}

// TestTooLargeEndsAsAReference follows a record that the broker takes in no form
// that has a value.
func TestTooLargeEndsAsAReference(t *testing.T) {
	f := Fate{Ending: Retried, Topic: "webhook-retry.5s", Headers: schemas.Headers{Destination: "crm", MessageID: "m1", Attempt: 1}}
	f = f.TooLarge()
	if r := f.Record(fetched(), noon); r.Topic != schemas.TopicDeadLetters || f.Headers.Reason != schemas.ReasonRecordTooLarge || len(r.Value) == 0 {
		t.Fatalf("fate %+v, record %v; expected a whole dead letter for record_too_large", f, r)
	}
	f = f.TooLarge()
	r := f.Record(fetched(), noon)
	if r.Topic != schemas.TopicDeadLetters || r.Value != nil || !headersOf(t, r).Reference {
		t.Fatalf("record %v, expected a dead letter that refers to the value", r)
	}
}

// TestAnAnswerGoesIntoTheDeadLetterAlone: that of the attempt that was the last. What makes a
// record too large is left out first.
func TestAnAnswerGoesIntoTheDeadLetterAlone(t *testing.T) {
	said := &outcome.Answer{Status: 503, Body: []byte("no more room")}
	h := schemas.Headers{Destination: "crm", FirstAttempt: noon.Add(-time.Hour), Answer: []byte("of an earlier attempt")}
	again := outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Answer: said}
	if f := fixed(middle).After(h, again, noon, noon); f.Ending != Retried || f.Headers.Answer != nil {
		t.Errorf("a retry says %q", f.Headers.Answer)
	}
	h.FirstAttempt = noon.Add(-4 * time.Hour)
	for _, o := range []outcome.Outcome{again, {Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Answer: said}} {
		f := fixed(middle).After(h, o, noon, noon)
		if r := f.Record(fetched(), noon); f.Ending != Dead || string(headersOf(t, r).Answer) != "no more room" {
			t.Errorf("the dead letter says %q", f.Headers.Answer)
		}
		f = f.TooLarge()
		if r := f.Record(fetched(), noon); len(r.Value) == 0 || headersOf(t, r).Answer != nil || headersOf(t, r).Reason != f.Headers.Reason {
			t.Errorf("the dead letter without the answer is %v", r)
		}
		if f = f.TooLarge(); !f.Headers.Reference {
			t.Errorf("the least dead letter is %+v", f)
		}
	}
	if f := fixed(middle).After(h, outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonAddressRefused}, noon, noon); f.Headers.Answer != nil {
		t.Errorf("the dead letter of an attempt without an answer says %q", f.Headers.Answer)
	}
}

func TestTooLargeKeepsTheReasonOfTheDead(t *testing.T) {
	f := deadFor(schemas.Headers{Destination: "crm"}, schemas.ReasonStatus4xx, "status 400").TooLarge()
	if f.Headers.Reason != schemas.ReasonStatus4xx || !f.Headers.Reference {
		t.Errorf("fate %+v, expected a reference for status_4xx", f)
	}
}

func TestRetryRecordIsTheEventWithNewHeaders(t *testing.T) {
	first := fetched()
	h := headersOf(t, first)
	h.Destination, h.Attempt, h.FirstAttempt, h.Due = "crm", 1, noon, noon.Add(time.Minute)
	for _, ending := range []Ending{Retried, Withheld, Hopped} {
		r := Fate{Ending: ending, Topic: "webhook-retry.30s", Headers: h}.Record(first, noon)
		if r.Topic != "webhook-retry.30s" || string(r.Key) != "user" || string(r.Value) != string(first.Value) {
			t.Errorf("record %v, expected the event on webhook-retry.30s", r)
		}
		if diff := cmp.Diff(h, headersOf(t, r)); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
	}
	for _, ending := range []Ending{Delivered, Unfinished} {
		if r := (Fate{Ending: ending, Headers: h}).Record(first, noon); r != nil {
			t.Errorf("ending %d writes %v, expected nothing", ending, r)
		}
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

// TestWhereAnEventComesFromIsKept over every hop: when ingest took its call, and
// the trace that it is part of.
func TestWhereAnEventComesFromIsKept(t *testing.T) {
	c := retryOf("crm", true)
	c.Headers.Received = noon.Add(-2 * time.Hour)
	c.Headers.TraceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	s := fixed(middle)
	hopped := c
	hopped.Slot, hopped.Reserved = false, noon.Add(time.Minute)
	for name, f := range map[string]Fate{
		"retried":  s.After(c.Headers, outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonTimeout}, noon, noon),
		"withheld": s.After(c.Headers, outcome.Outcome{Verdict: outcome.Withheld, Until: noon.Add(time.Second)}, noon, noon),
		"dead":     s.After(c.Headers, outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx}, noon, noon),
		"hopped":   judged(hopped, noon),
	} {
		h, err := kafka.HeadersOf(f.Record(&kgo.Record{Topic: "webhook-retry.5s"}, noon))
		if err != nil || !h.Received.Equal(c.Headers.Received) || h.TraceParent != c.Headers.TraceParent {
			t.Errorf("%s: received %v, trace %q, error %v", name, h.Received, h.TraceParent, err)
		}
	}
}
