package stablejson_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// event returns a call of about 1 KB as a browser library sends it.
func event(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/event.json")
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// batch returns the body of a request with 20 such calls.
func batch(tb testing.TB) []byte {
	tb.Helper()
	calls := bytes.Repeat(append(event(tb), ','), 20)
	return []byte(`{"batch":[` + string(calls[:len(calls)-1]) + `],"sentAt":"2026-11-21T01:04:29.622Z"}`)
}

func BenchmarkAppend(b *testing.B) {
	text := event(b)
	dst := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := stablejson.Append(dst, text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReaderAppend(b *testing.B) {
	text := event(b)
	dst := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var r stablejson.Reader
	for b.Loop() {
		r.Reset(text)
		if _, err := r.Append(dst); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkValidateAndCopy is the yardstick: what jsontext needs to validate
// and copy the same bytes, as it does by default and as leniently as it can.
func BenchmarkValidateAndCopy(b *testing.B) {
	text := event(b)
	dst := make([]byte, 0, 2*len(text))
	run := func(b *testing.B, options ...jsontext.Options) {
		b.Helper()
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := jsontext.AppendFormat(dst, text, options...); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("default", func(b *testing.B) { run(b) })
	b.Run("lenient", func(b *testing.B) {
		run(b, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))
	})
}

func BenchmarkObject(b *testing.B) {
	text := event(b)
	dst := make([]byte, 0, 2*len(text))
	var (
		r stablejson.Reader
		o stablejson.Object
	)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(text)
		if err := r.Object(&o); err != nil {
			b.Fatal(err)
		}
		o.Set("receivedAt", []byte(`"2026-11-21T01:04:29.700Z"`))
		o.Append(dst)
	}
}

func BenchmarkBatch(b *testing.B) {
	text := batch(b)
	dst := make([]byte, 0, len(text))
	var (
		r stablejson.Reader
		o stablejson.Object
	)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(text)
		err := r.Members(func(key []byte) error {
			if string(key) != "batch" {
				return r.Skip()
			}
			return r.Elements(func() error {
				err := r.Object(&o)
				o.Append(dst)
				return err
			})
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostile shows that no text of a call's size costs out of proportion:
// compare MB/s with BenchmarkReaderAppend.
func BenchmarkHostile(b *testing.B) {
	const size = 32_768
	repeated := func(element string) string {
		return strings.Repeat(element, size/len(element))
	}
	numbered := func(format string) string {
		var all strings.Builder
		for i := size; all.Len() < size; i-- {
			fmt.Fprintf(&all, format, i)
		}
		return strings.TrimSuffix(all.String(), ",")
	}
	const levels = stablejson.MaxDepth - 1
	for name, text := range map[string]string{
		"rearranged at every level": strings.Repeat(`{"b":`, levels) + `"` + repeated("x") + `"` + strings.Repeat(`,"1":2}`, levels),
		"keys that collide":         "{" + numbered(`"collides%07dcollides":0,`) + "}",
		"index keys from the last":  "{" + numbered(`"%d":0,`) + "}",
		"one key again and again":   "{" + strings.TrimSuffix(repeated(`"a":0,`), ",") + "}",
		"small objects to arrange":  "[" + strings.TrimSuffix(repeated(`{"a":0,"a":0},`), ",") + "]",
		"numbers to convert":        "[" + strings.TrimSuffix(repeated("1.7976931348623157e308,"), ",") + "]",
		"subnormal numbers":         "[" + strings.TrimSuffix(repeated("1e-310,"), ",") + "]",
		"numbers of twenty digits":  "[" + strings.TrimSuffix(repeated("12345678901234567891e-300,"), ",") + "]",
		"numbers below zero":        "[" + strings.TrimSuffix(repeated("1e-330,"), ",") + "]",
		"numbers just too large":    "[" + strings.TrimSuffix(repeated("1e309,"), ",") + "]",
		"ties":                      "[" + strings.TrimSuffix(repeated("9007199254740993,"), ",") + "]",
		"ties with a fraction":      "[" + strings.TrimSuffix(repeated("1125899906842624.125,"), ",") + "]",
		"ties of many digits":       "[" + strings.TrimSuffix(repeated("1.00000000000000011102230246251565,"), ",") + "]",
		"numbers of 800 digits":     "[" + strings.TrimSuffix(repeated("0."+strings.Repeat("0", 300)+strings.Repeat("1", 800)+","), ",") + "]",
		"one number":                "0." + repeated("1"),
		"ill-formed bytes":          `"` + repeated("\xff") + `"`,
		"escapes":                   `"` + repeated(`\u0041`) + `"`,
		"no Latin letters":          `"` + repeated("語") + `"`,
		"white space":               repeated(" ") + "0",
	} {
		b.Run(name, func(b *testing.B) {
			var r stablejson.Reader
			dst := make([]byte, 0, 8*len(text))
			in := []byte(text)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(in)
				if _, err := r.Append(dst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
