package message

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/personas/internal/engine"
)

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, want := range []*Message{
		{Kind: Tick, End: 17},
		{Kind: Link, Target: "u", Alias: true, Hops: 3},
		{Kind: Merge, From: "a", Path: []string{"a", "b"}, Value: []byte{0, 1}},
		{Kind: Forward, Leaves: []engine.LeafID{1 << 63, 2}, Received: 5, Value: []byte("{}"), Headers: []kgo.RecordHeader{{Key: "type", Value: []byte("track")}}},
	} {
		rec := want.Record(3, "user")
		got, err := Read(rec)
		if diff := cmp.Diff(want, got); err != nil || diff != "" || rec.Partition != 3 || string(rec.Key) != "user" {
			t.Errorf("%v, record %v (-want +got):\n%s", err, rec, diff)
		}
	}
	if tick := (&Message{Kind: Tick}).Record(0, ""); tick.Key != nil {
		t.Errorf("a tick has the key %q", tick.Key)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"Kind":"tick"}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, header []byte) {
		m, err := Read(&kgo.Record{Headers: []kgo.RecordHeader{{Key: "personas", Value: header}}})
		if (m == nil) == (err == nil) || err != nil && !errors.Is(err, ErrUnknown) {
			t.Errorf("%v, %v", m, err)
		}
	})
}
