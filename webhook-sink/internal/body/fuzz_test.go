package body_test

import (
	"bytes"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/webhook-sink/internal/body"
)

// Any bytes may stand in a topic. Each either fails, leaving the destination as
// it was, or becomes a body that is stable, follows its schema, and does not
// depend on how the event was spelled.
func FuzzAppend(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add([]byte(g.Event))
	}
	f.Add([]byte(`{"type":"track","userId":"\ud800","event":"\u0000","messageId":"m","timestamp":"2026-11-21T01:04:29.685Z","properties":{"b":1.0,"1":-0,"b":1e999}}`))
	f.Add([]byte(`{"type":"identify","anonymousId":"` + "\xff" + `","messageId":"m","timestamp":"2026-11-21T01:04:29.685Z","context":{"traits":{},"traits":{"a":[]}}}`))
	f.Add([]byte(`[]`))
	var builder body.Builder
	f.Fuzz(func(t *testing.T, event []byte) {
		before := bytes.Clone(event)
		got, err := builder.Append([]byte("kept"), event)
		if !bytes.Equal(before, event) {
			t.Error("event was changed")
		}
		text, kept := bytes.CutPrefix(got, []byte("kept"))
		if !kept {
			t.Fatalf("destination overwritten: %q", got)
		}
		if err != nil {
			if len(text) > 0 {
				t.Errorf("left behind after %v: %q", err, text)
			}
			return
		}
		checkBody(t, text)

		stable, err := stablejson.Append(nil, event)
		if err != nil {
			t.Fatalf("body made of what is no JSON: %v", err)
		}
		again, err := builder.Append(nil, stable)
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("body of the stable event: %s, %v\nwant %s", again, err, text)
		}
	})
}
