package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

func TestHeadersAreReplacedNotAppended(t *testing.T) {
	t.Parallel()
	h := schemas.Headers{Source: "web", Type: schemas.TypeTrack, MessageID: "m", Origin: schemas.OriginAPI}
	r := &kgo.Record{}
	SetHeaders(r, &h)
	once := len(r.Headers)
	h.Attempt = 3
	h.FirstAttempt = time.UnixMilli(1_700_000_000_000).UTC()
	for range 20 {
		SetHeaders(r, &h)
	}
	if len(r.Headers) != once+2 {
		t.Errorf("%d headers after twenty hops, want %d", len(r.Headers), once+2)
	}
	got, err := HeadersOf(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, got); diff != "" {
		t.Errorf("headers (-set +read):\n%s", diff)
	}
}

// Two records made from one must not share the array behind their headers.
func TestSetHeadersLeavesTheOriginAlone(t *testing.T) {
	t.Parallel()
	origin := &kgo.Record{}
	SetHeaders(origin, &schemas.Headers{Source: "web", Type: schemas.TypeTrack})
	before := append([]kgo.RecordHeader(nil), origin.Headers...)
	copied := &kgo.Record{Headers: origin.Headers}
	SetHeaders(copied, &schemas.Headers{Source: "other", Type: schemas.TypePage, Attempt: 1})
	if diff := cmp.Diff(before, origin.Headers); diff != "" {
		t.Errorf("the origin's headers changed:\n%s", diff)
	}
}

func TestUnreadableHeadersNameTheRecord(t *testing.T) {
	t.Parallel()
	r := &kgo.Record{Topic: "raw-events", Partition: 3, Offset: 17, Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("x")}}}
	_, err := HeadersOf(r)
	if err == nil || !strings.Contains(err.Error(), "decode raw-events[3]@17: ") || !strings.Contains(err.Error(), "attempt") {
		t.Errorf("HeadersOf = %v, want the place of the record and the name of the header", err)
	}
}

func TestDeadLetterKeepsTheRecordAndItsPlace(t *testing.T) {
	t.Parallel()
	r := &kgo.Record{Topic: "deliver.crm", Partition: 1, Offset: 5, Key: []byte("u"), Value: []byte(`{"a":1}`)}
	h := schemas.Headers{Source: "web", Type: schemas.TypeTrack, Destination: "crm", Reason: schemas.ReasonStatus4xx, Detail: "410", Integrations: []byte(`{"All":true}`)}
	now := time.UnixMilli(1_700_000_000_123).UTC()

	dead := DeadLetter(r, h, now)
	if dead.Topic != schemas.TopicDeadLetters || string(dead.Key) != "u" || string(dead.Value) != `{"a":1}` {
		t.Errorf("dead letter %s, key %s, value %s", dead.Topic, dead.Key, dead.Value)
	}
	want := h
	want.From = schemas.Position{Topic: "deliver.crm", Partition: 1, Offset: 5}
	want.FailedAt = now
	checkHeaders(t, dead, want)

	reference := DeadLetterReference(r, h, now)
	if len(reference.Value) != 0 || string(reference.Key) != "u" {
		t.Errorf("reference holds value %q, key %q", reference.Value, reference.Key)
	}
	want.Reference, want.Integrations = true, nil
	checkHeaders(t, reference, want)
	if string(r.Value) != `{"a":1}` {
		t.Errorf("the record itself was changed: %s", r.Value)
	}
}

func checkHeaders(t *testing.T, r *kgo.Record, want schemas.Headers) {
	t.Helper()
	got, err := HeadersOf(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

// What a later release wrote is all there when that release looks at the dead
// letter, and this one can say what it is.
func TestDeadLetterOfALaterVersionKeepsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	r := &kgo.Record{Topic: "raw-events", Key: []byte("u"), Value: []byte("of a later release")}
	for _, pair := range [][2]string{{"version", "3"}, {"message-id", "m"}, {"tenant", "acme"}, {"attempt", "first"}, {"detail", "before"}} {
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: pair[0], Value: []byte(pair[1])})
	}
	h, err := HeadersOf(r)
	if ReasonOf(err) != schemas.ReasonVersionUnknown || !strings.Contains(err.Error(), "decode raw-events[0]@0: ") {
		t.Fatalf("HeadersOf = %v, of which the reason is %s", err, ReasonOf(err))
	}
	h.Reason, h.Detail = ReasonOf(err), "now"
	dead := DeadLetter(r, h, time.UnixMilli(1_700_000_000_123).UTC())
	got := make(map[string]string)
	for _, header := range dead.Headers {
		if _, twice := got[header.Key]; twice {
			t.Errorf("header %s stands there twice", header.Key)
		}
		got[header.Key] = string(header.Value)
	}
	want := map[string]string{
		"version": "3", "message-id": "m", "tenant": "acme", "attempt": "first", "detail": "now", "reason": "version_unknown",
		"from-topic": "raw-events", "from-partition": "0", "from-offset": "0", "failed-at": "1700000000123",
	}
	if diff := cmp.Diff(want, got); diff != "" || string(dead.Value) != string(r.Value) {
		t.Errorf("value %s, headers (-want +got):\n%s", dead.Value, diff)
	}
	read, err := HeadersOf(dead)
	if ReasonOf(err) != schemas.ReasonVersionUnknown || read.Reason != schemas.ReasonVersionUnknown || read.From.Topic != "raw-events" {
		t.Errorf("the dead letter reads as %+v, %v", read, err)
	}
	reference := DeadLetterReference(r, h, time.Now())
	for _, header := range reference.Headers {
		if header.Key == "tenant" {
			t.Error("a reference keeps a header of which nobody knows how large it may be")
		}
	}
	if len(reference.Value) != 0 || len(r.Headers) != 5 {
		t.Errorf("reference with the value %s; the record has %d headers left", reference.Value, len(r.Headers))
	}
}

func TestReasonOfABrokenRecord(t *testing.T) {
	t.Parallel()
	_, err := HeadersOf(&kgo.Record{Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("x")}, {Key: "version", Value: []byte("0")}}})
	if got := ReasonOf(err); err == nil || got != schemas.ReasonRecordInvalid {
		t.Errorf("reason %s of %v", got, err)
	}
}

// Records made from one share their headers until one of them gets some of its own.
func TestAddedHeadersAreTheRecordsOwn(t *testing.T) {
	t.Parallel()
	const first, second = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-01"
	origin := &kgo.Record{}
	SetHeaders(origin, &schemas.Headers{Source: "web", TraceParent: first, MessageID: "m"})
	shared := AddHeaders(origin.Headers, &schemas.Headers{Received: time.UnixMilli(1_700_000_000_123).UTC()})
	a, b := &kgo.Record{Headers: shared}, &kgo.Record{Headers: shared}
	SetTraceParent(a, second)
	want := schemas.Headers{Source: "web", MessageID: "m", TraceParent: first}
	checkHeaders(t, origin, want)
	want.Received = time.UnixMilli(1_700_000_000_123).UTC()
	checkHeaders(t, b, want)
	want.TraceParent = second
	checkHeaders(t, a, want)
	if len(a.Headers) != len(b.Headers) {
		t.Errorf("%d headers with another trace context, want %d", len(a.Headers), len(b.Headers))
	}
}
