package store

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

func TestBatch(t *testing.T) {
	b := NewBatch("website", events(t, `{"batch":[`+
		`{"type":"identify","userId":"u","messageId":"1","integrations":{"All":false}},`+
		`{"type":"page","anonymousId":"ä\n","messageId":"2"}]}`))
	want := []schemas.Headers{
		{Source: "website", Type: schemas.TypeIdentify, MessageID: "1", Integrations: []byte(`{"All":false}`), Origin: schemas.OriginAPI},
		{Source: "website", Type: schemas.TypePage, MessageID: "2", Origin: schemas.OriginAPI},
	}
	keys := []string{"u", "ä\n"}
	size := 0
	for i := range b.records {
		r := &b.records[i]
		h, err := kafka.HeadersOf(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], h); diff != "" {
			t.Errorf("headers of record %d (-want +got):\n%s", i, diff)
		}
		if r.Topic != schemas.TopicRawEvents || string(r.Key) != keys[i] || !strings.Contains(string(r.Value), `"messageId":"`+h.MessageID+`"`) {
			t.Errorf("record %d: %s %q %s", i, r.Topic, r.Key, r.Value)
		}
		size += len(r.Key) + len(r.Value)
		for _, header := range r.Headers {
			size += len(header.Key) + len(header.Value)
		}
	}
	if len(b.records) != len(want) || b.bytes != size {
		t.Errorf("got %d records and %d bytes, want %d and %d", len(b.records), b.bytes, len(want), size)
	}
}

func TestBlockedCallsAreDeadLetters(t *testing.T) {
	at := time.UnixMilli(1795250000000).UTC()
	accepted, blocked := reviewed(t, `{"batch":[`+
		`{"type":"page","userId":"u","messageId":"1"},`+
		`{"type":"track","event":"e","userId":"u","messageId":"2","integrations":{"All":false}},`+
		`{"type":"track","event":"f","anonymousId":"a","messageId":"3"}]}`)
	b := NewBatch("website", accepted)
	b.AddBlocked("website", blocked, at)
	want := []schemas.Headers{
		{Source: "website", Type: schemas.TypePage, MessageID: "1", Origin: schemas.OriginAPI},
		{
			Source: "website", Type: schemas.TypeTrack, MessageID: "2", Integrations: []byte(`{"All":false}`), Origin: schemas.OriginAPI,
			Reason: schemas.ReasonPlanViolation, Detail: "blocked \"e\"", FailedAt: at,
		},
		{
			Source: "website", Type: schemas.TypeTrack, MessageID: "3", Origin: schemas.OriginAPI,
			Reason: schemas.ReasonPlanViolation, Detail: "blocked \"f\"", FailedAt: at,
		},
	}
	topics := []string{schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicDeadLetters}
	if b.Len() != len(want) {
		t.Fatalf("%d records, want %d", b.Len(), len(want))
	}
	size := 0
	for i := range b.records {
		r := &b.records[i]
		h, err := kafka.HeadersOf(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[i], h); diff != "" {
			t.Errorf("headers of record %d (-want +got):\n%s", i, diff)
		}
		if r.Topic != topics[i] || !strings.Contains(string(r.Value), `"messageId":"`+h.MessageID+`"`) {
			t.Errorf("record %d: %s %s", i, r.Topic, r.Value)
		}
		size += len(r.Key) + len(r.Value)
		for _, header := range r.Headers {
			size += len(header.Key) + len(header.Value)
		}
	}
	if b.bytes != size {
		t.Errorf("counted %d bytes, want %d", b.bytes, size)
	}
}

// TestBatchMemory holds what a batch takes from the heap to its records, its
// headers and its text, beside the values that headers are encoded to.
func TestBatchMemory(t *testing.T) {
	accepted := events(t, `{"batch":[{"type":"page","userId":"u","messageId":"1"},{"type":"page","userId":"u","messageId":"2"}]}`)
	const perRecord = 4 // source, type, message-id, origin
	if n := testing.AllocsPerRun(100, func() { NewBatch("website", accepted) }); n > 3+2*perRecord {
		t.Errorf("%v allocations", n)
	}
}

// FuzzBatch makes records of whatever is accepted or blocked: each must hold what
// its event held, after the decoder has gone on and after its neighbours were
// appended to.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"batch":[{"type":"track","event":"e","userId":1,"messageId":2},{"type":"page","anonymousId":"\ud800","integrations":{"0":1}}],"context":{"a":1}}`))
	f.Add([]byte(`{"batch":[{"type":"identify","userId":"\u0000"}],"integrations":{"All":false}}`))
	f.Add([]byte(`{"batch":[{"type":"track","event":"\u0000","userId":"a"},{"type":"track","event":"f","userId":"a","integrations":{"All":true}}]}`))
	d := new(decode.Decoder)
	f.Fuzz(func(t *testing.T, body []byte) {
		if d.Parse(bytes.Clone(body), "") != nil {
			return
		}
		if _, err := d.Accept(blockTracks); err != nil {
			return
		}
		want := append(clones(d.Events()), clones(d.Blocked().Events)...)
		topics := append(slices.Repeat([]string{schemas.TopicRawEvents}, d.Events().Len()), slices.Repeat([]string{schemas.TopicDeadLetters}, d.Blocked().Len())...)
		b := NewBatch("website", d.Events())
		b.AddBlocked("website", d.Blocked(), time.UnixMilli(1))
		_ = d.Parse([]byte(`{"batch":[{"type":"identify","userId":"somebody else"}]}`), "")
		_, _ = d.Accept(blockTracks)
		for i := range b.records {
			_ = append(b.records[i].Key, "overwritten"...)
			_ = append(b.records[i].Value, "overwritten"...)
		}
		if len(b.records) != len(want) {
			t.Fatalf("%q: %d records of %d events", body, len(b.records), len(want))
		}
		for i := range b.records {
			checkRecord(t, &b.records[i], topics[i], &want[i])
		}
	})
}

func clones(events decode.Events) (all []decode.Event) {
	for i := range events.Len() {
		e := events.At(i)
		e.Value, e.Key, e.Integrations = bytes.Clone(e.Value), bytes.Clone(e.Key), bytes.Clone(e.Integrations)
		all = append(all, e)
	}
	return all
}

func checkRecord(t *testing.T, r *kgo.Record, topic string, e *decode.Event) {
	t.Helper()
	h, err := kafka.HeadersOf(r)
	if err != nil || h.Type != e.Type || h.MessageID != e.MessageID || !bytes.Equal(h.Integrations, e.Integrations) {
		t.Fatalf("%s has headers %+v, %v", e.Value, h, err)
	}
	if blocked := topic == schemas.TopicDeadLetters; r.Topic != topic || blocked != (h.Reason == schemas.ReasonPlanViolation) {
		t.Fatalf("%s is for %s, by the reason %q", e.Value, r.Topic, h.Reason)
	}
	if !bytes.Equal(r.Key, e.Key) || !bytes.Equal(r.Value, e.Value) {
		t.Fatalf("record %q %q, want %q %q", r.Key, r.Value, e.Key, e.Value)
	}
}
