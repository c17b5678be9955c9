package store

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

// TestTraceNamesTheSpanOfEachRecord that has one, and counts the bytes.
func TestTraceNamesTheSpanOfEachRecord(t *testing.T) {
	t.Parallel()
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	b := NewBatch("website", events(t, `{"batch":[{"type":"page","userId":"u","messageId":"1"},{"type":"page","userId":"v","messageId":"2"}]}`))
	before := b.bytes
	var asked []string
	b.Trace(func(topic string, h *schemas.Headers) string {
		asked = append(asked, topic+" "+h.Source+" "+h.MessageID)
		return map[string]string{"2": parent}[h.MessageID]
	})
	if got := strings.Join(asked, ", "); got != "raw-events website 1, raw-events website 2" {
		t.Errorf("asked for %s", got)
	}
	for i, want := range []string{"", parent} {
		h, err := kafka.HeadersOf(&b.records[i])
		if err != nil || h.TraceParent != want || h.Type != schemas.TypePage {
			t.Errorf("record %d has %+v, %v", i, h, err)
		}
	}
	if added := b.bytes - before; added != len("traceparent")+len(parent) {
		t.Errorf("the batch grew by %d bytes", added)
	}
	b.records[0].Headers = append(b.records[0].Headers, kgo.RecordHeader{Key: "attempt", Value: []byte("x")})
	b.Trace(func(string, *schemas.Headers) string { return parent })
	if n := len(b.records[0].Headers); n != 5 {
		t.Errorf("a record that can't be read has %d headers, want it left alone", n)
	}
}
