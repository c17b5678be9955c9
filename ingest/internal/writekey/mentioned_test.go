package writekey

import (
	"bytes"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

func TestMentioned(t *testing.T) {
	long := strings.Repeat("k", 256)
	for body, want := range map[string]string{
		`{"writeKey":"k"}`: "k",
		`{"batch":[{"a":"writeKey"}],"writeKey" :` + "\n\t" + `"k" }`: "k",
		`{"writeKey":"x","a":{"writeKey":"k"}}`:                       "k",
		`{"writeKey":null,"writeKey":"k"`:                             "k",
		`{"writeKey":"a\/b\"\u0063"}`:                                 `a/b"c`,
		`{"writeKey":"` + long + `"}`:                                 long,
		`{"writeKey":"` + strings.Repeat(`\u006b`, 256) + `"}`:        long,
	} {
		if !Mentioned([]byte(body), func(key string) bool { return key == want }) {
			t.Errorf("%.100s: no %.100s", body, want)
		}
	}
	for _, body := range []string{
		``, `{}`, `{"writeKey"`, `{"writeKey":`, `{"writeKey":"`, `{"writeKey":"k`, `{"writeKey":"k\"`, `{"writeKey":"k\`, `{"writeKey":k}`,
		`{"writekey":"k"}`, `{"writeKey":"K"}`, `{"writeKey":["k"]}`, `{"writeKey","k"}`, `{"a":"k"}`,
		`{"writeKey":"` + strings.Repeat("k", 5000) + `"}`,
	} {
		if Mentioned([]byte(body), func(key string) bool { return strings.Trim(key, "k") == "" && key != "" }) {
			t.Errorf("%.100s: found", body)
		}
	}
}

// FuzzMentioned holds what is found against the key that a parser finds.
func FuzzMentioned(f *testing.F) {
	for _, seed := range []string{`{"writeKey":"k"}`, `{"a":[{"writeKey":"x"}],"writeKey":"a\/b"}`, `{"writeKey":1,"writeKey" : "k"}`, `{"writeKey":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var o stablejson.Object
		if o.Parse(body) != nil {
			return
		}
		key, ok := stablejson.Text(o.Get("writeKey"))
		if !ok || len(key) > 256 || bytes.Contains(body, []byte(`\u`)) {
			return
		}
		if !Mentioned(body, func(found string) bool { return found == key }) {
			t.Fatalf("%q: %q was not found", body, key)
		}
	})
}

func BenchmarkMentioned(b *testing.B) {
	for name, body := range map[string]string{
		"none":     strings.Repeat(`{"type":"track","event":"Order Completed","userId":"u"},`, 9000),
		"many":     strings.Repeat(`"writeKey":"x",`, 34_000),
		"no end":   strings.Repeat(`"writeKey":"`+strings.Repeat("x", 100), 4500),
		"escapes":  strings.Repeat(`"writeKey":"\n",`, 30_000),
		"unclosed": strings.Repeat(`"writeKey":"\"`, 36_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Mentioned([]byte(body), func(string) bool { return false })
			}
		})
	}
}
