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
