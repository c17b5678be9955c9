package listing

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
)

func TestPretty(t *testing.T) {
	t.Parallel()
	if got, want := Pretty([]byte(`{"b":1,"a":"\u001b"}`), maxRaw), "{\n  \"b\": 1,\n  \"a\": \"\\u001b\"\n}"; got != want {
		t.Errorf("pretty = %s, want %s", got, want)
	}
	if got, want := Pretty([]byte("no\x1b json"), maxRaw), `"no\x1b json"`; got != want {
		t.Errorf("pretty = %s, want %s", got, want)
	}
	if got := Pretty([]byte(strings.Repeat("x", maxRaw+5)), maxRaw); !strings.HasSuffix(got, `" and 5 bytes more`) {
		t.Errorf("pretty of much else ends with %q", got[len(got)-30:])
	}
}

// What is shown is the same JSON, and nothing that a terminal acts on.
func FuzzPretty(f *testing.F) {
	for _, seed := range []string{`{"a":"\u001b"}`, "{\"a\":\"\u009b2J \u202e \U0001f600 \xff\"}", `[1,{"b":[]}]`, "no json \x1b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got := Pretty(value, maxRaw)
		if i := strings.IndexFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("Pretty(%q) has %q in it", value, got[i:])
		}
		var want, shown any
		if json.Unmarshal(value, &want) != nil {
			return
		}
		if err := json.Unmarshal([]byte(got), &shown); err != nil || !reflect.DeepEqual(want, shown) {
			t.Errorf("Pretty(%q) is another JSON: %s (%v)", value, got, err)
		}
	})
}
