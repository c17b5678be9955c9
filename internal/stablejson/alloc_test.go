package stablejson_test

import (
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// The stages canonicalise, split and look up on every event: these bounds are
// what keeps them out of the garbage collector's way.
func TestAllocations(t *testing.T) {
	text, calls := event(t), batch(t)
	dst := make([]byte, 0, 2*len(calls))
	var (
		r stablejson.Reader
		o stablejson.Object
	)
	if err := o.Parse(text); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		most float64
		run  func() error
	}{
		{"Append", 1, func() error {
			_, err := stablejson.Append(dst, text)
			return err
		}},
		// One of them only under the race detector, where slices.Grow makes two.
		{"Append to nil", 3, func() error {
			_, err := stablejson.Append(nil, text)
			return err
		}},
		{"Reader.Append", 0, func() error {
			r.Reset(text)
			_, err := r.Append(dst)
			return err
		}},
		{"Reader.Object, Object.Set, Object.Append", 0, func() error {
			r.Reset(text)
			err := r.Object(&o)
			o.Set("receivedAt", []byte(`"2026-11-21T01:04:29.700Z"`))
			o.Append(dst)
			return err
		}},
		{"Object.Get", 0, func() error {
			o.Get("messageId")
			o.Get("not\tthere")
			return nil
		}},
		{"AppendString", 0, func() error {
			stablejson.AppendString(dst, "Thank you\n— Order")
			return nil
		}},
		{"a batch of 20", 0, func() error {
			r.Reset(calls)
			return r.Members(func(key []byte) error {
				if string(key) != "batch" {
					return r.Skip()
				}
				return r.Elements(func() error { return r.Object(&o) })
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := testing.AllocsPerRun(100, func() {
				if err := c.run(); err != nil {
					t.Fatal(err)
				}
			})
			if got > c.most {
				t.Errorf("%.0f allocations, want at most %.0f", got, c.most)
			}
		})
	}
}
