package member

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// FuzzContext shows that what is put into a context keeps it stable, is put there
// once, and leaves the rest as it was.
func FuzzContext(f *testing.F) {
	for _, seed := range []string{`{}`, `{"ip":1}`, `{"7":1,"direct":true}`, `{"protocols":{"a":1,"violations":2},"b":3}`, `{"\u0069p":""}`, `null`} {
		f.Add([]byte(seed), "properties.a", true)
	}
	var e Editor
	ip := netip.MustParseAddr("2001:db8::7")
	f.Fuzz(func(t *testing.T, context []byte, path string, always bool) {
		var before, call, after stablejson.Object
		if before.Parse(context) != nil {
			before.Reset()
		}
		call.Set(keyContext, before.Append(nil))
		for range 2 { // a second time changes nothing
			e.FillIP(&call, ip, always)
			e.Mark(&call, []Finding{{Path: path, Message: "is missing"}})
		}
		text := call.Append(nil)
		if stable, err := stablejson.Append(nil, text); err != nil || !bytes.Equal(stable, text) {
			t.Fatalf("%s is not stable: %v", text, err)
		}
		if err := after.Parse(call.Get(keyContext)); err != nil {
			t.Fatal(err)
		}
		filled := before.Get("ip") == nil && (always || string(before.Get("direct")) == "true")
		if (string(after.Get("ip")) == `"2001:db8::7"`) != filled && before.Get("ip") == nil {
			t.Fatalf("%s became %s", context, text)
		}
		for key, value := range before.All() {
			if key != "protocols" && !bytes.Equal(after.Get(key), value) {
				t.Fatalf("%s: %q became %s", context, key, after.Get(key))
			}
		}
		if n := bytes.Count(after.Get("protocols"), []byte(`"message":"is missing"`)); n < 1 {
			t.Fatalf("%s: no mark in %s", context, text)
		}
	})
}

func BenchmarkFillIP(b *testing.B) {
	for name, context := range map[string]string{
		"nothing alike":    `{"library":{"name":"analytics.js"},"page":{"path":"/checkout"},"locale":"en-US"}`,
		"one deeper":       `{"library":{"name":"analytics.js"},"page":{"ip":"x"},"locale":"en-US"}`,
		"one that it has":  `{"library":{"name":"analytics.js"},"ip":"192.0.2.1","locale":"en-US"}`,
		"asked for by one": `{"library":{"name":"analytics.js"},"direct":true,"locale":"en-US"}`,
	} {
		b.Run(name, func(b *testing.B) {
			var e Editor
			var call, filled stablejson.Object
			if err := call.Parse([]byte(`{"userId":"u","context":` + context + `}`)); err != nil {
				b.Fatal(err)
			}
			ip := netip.MustParseAddr("203.0.113.7")
			b.ReportAllocs()
			for b.Loop() {
				filled.Reset()
				filled.Merge(&call)
				e.FillIP(&filled, ip, name != "asked for by one")
			}
		})
	}
}
