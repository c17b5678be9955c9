package store

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// FuzzBatch makes records of whatever is accepted: each must hold what its event
// held, after the decoder has gone on and after its neighbours were appended to.
func FuzzBatch(f *testing.F) {
	f.Add([]byte(`{"batch":[{"type":"track","event":"e","userId":1,"messageId":2},{"type":"page","anonymousId":"\ud800","integrations":{"0":1}}],"context":{"a":1}}`))
	f.Add([]byte(`{"batch":[{"type":"identify","userId":"\u0000"}],"integrations":{"All":false}}`))
	d := new(decode.Decoder)
	f.Fuzz(func(t *testing.T, body []byte) {
		if d.Parse(bytes.Clone(body), "") != nil {
			return
		}
		if _, err := d.Accept(time.UnixMilli(0)); err != nil {
			return
		}
		var want []decode.Event
		for i := range d.Events().Len() {
			e := d.Events().At(i)
			e.Value, e.Key, e.Integrations = bytes.Clone(e.Value), bytes.Clone(e.Key), bytes.Clone(e.Integrations)
			want = append(want, e)
		}
		b := NewBatch("website", d.Events())
		_ = d.Parse([]byte(`{"batch":[{"type":"identify","userId":"somebody else"}]}`), "")
		_, _ = d.Accept(time.UnixMilli(0))
		for i := range b.records {
			_ = append(b.records[i].Key, "overwritten"...)
			_ = append(b.records[i].Value, "overwritten"...)
		}
		if len(b.records) != len(want) {
			t.Fatalf("%q: %d records of %d events", body, len(b.records), len(want))
		}
		for i := range b.records {
			r, e := &b.records[i], &want[i]
			h, err := kafka.HeadersOf(r)
			if err != nil || h.Type != e.Type || h.MessageID != e.MessageID || !bytes.Equal(h.Integrations, e.Integrations) {
				t.Fatalf("%q: record %d has headers %+v, %v", body, i, h, err)
			}
			if !bytes.Equal(r.Key, e.Key) || !bytes.Equal(r.Value, e.Value) {
				t.Fatalf("%q: record %d is %q %q, want %q %q", body, i, r.Key, r.Value, e.Key, e.Value)
			}
		}
	})
}
