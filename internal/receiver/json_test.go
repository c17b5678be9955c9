package receiver

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestAppendJSON(t *testing.T) {
	long := strings.Repeat("x", width)
	for name, c := range map[string]struct{ in, want string }{
		"scalar":            {`  1.0 `, `  1.0`},
		"empty object":      {`{ }`, `  {}`},
		"body is broken":    {`{"a":1,"b":[ ]}`, "  {\n    \"a\": 1,\n    \"b\": []\n  }"},
		"member fits":       {`{"a":{"b":[1,{"c":null}]}}`, "  {\n    \"a\": {\"b\": [1, {\"c\": null}]}\n  }"},
		"member is long":    {`{"a":{"b":"` + long + `","c":2}}`, "  {\n    \"a\": {\n      \"b\": \"" + long + "\",\n      \"c\": 2\n    }\n  }"},
		"syntax in strings": {`{"a:,{":"},]\"\\"}`, "  {\n    \"a:,{\": \"},]\\\"\\\\\"\n  }"},
		"order and doubles": {`{"b":1,"a":2,"b":3}`, "  {\n    \"b\": 1,\n    \"a\": 2,\n    \"b\": 3\n  }"},
		"unprintable":       {"[\"\u0085\u200b\U000e0001é\xff\u007f\"]", "  [\n    \"\\u0085\\u200b\\udb40\\udc01é\\ufffd\\u007f\"\n  ]"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(appendJSON(nil, []byte(c.in)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDepthIsBounded: breaking every level into lines would look through what is
// inside once for each, 10 GB of looking for this body.
func TestDepthIsBounded(t *testing.T) {
	const depth = 9_000 // json.Valid refuses 10,000
	body := strings.Repeat(`{"a":`, depth) + `"` + strings.Repeat("x", maxBody/2) + `"` + strings.Repeat("}", depth)
	got := appendJSON(nil, []byte(body))
	if lines := strings.Count(string(got), "\n"); lines != 2*maxLevels {
		t.Errorf("it has %d line breaks, want one down and one up for each of %d levels", lines, maxLevels)
	}
	if !json.Valid(got) {
		t.Error("the printed text is no longer JSON")
	}
}

// FuzzAppendJSON: what is printed is the same JSON value, and nothing in it is
// for a terminal to act on.
func FuzzAppendJSON(f *testing.F) {
	for _, seed := range []string{track, alias, page, hostile, `[]`, `"\ud800"`, `{"":[[],{}]}`, "\"\xff\xfe\"", `[1e999]`, `{"a":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			t.Skip()
		}
		got := appendJSON(nil, in)
		for _, r := range string(got) {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Fatalf("%q has %U", got, r)
			}
		}
		// Not cmp.Equal, whose time doubles with each level of nested slices.
		if want, have := decoded(t, in), decoded(t, got); !reflect.DeepEqual(want, have) {
			t.Errorf("%q prints as %q", in, got)
		}
	})
}

// decoded keeps numbers as they are written: 1.0 must not become 1.
func decoded(t *testing.T, text []byte) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("decode %q: %v", text, err)
	}
	return v
}

func TestWord(t *testing.T) {
	for in, want := range map[string]string{
		"u1":                      "u1",
		"user@example.com":        "user@example.com",
		"über":                    "über",
		"two words":               `"two words"`,
		"\x1b[2J":                 `"\x1b[2J"`,
		"\u202e":                  `"\u202e"`,
		`say "x"`:                 `"say \"x\""`,
		"\xff":                    `"\xff"`,
		strings.Repeat("é", 64):   strings.Repeat("é", 64),
		strings.Repeat("é", 65):   strings.Repeat("é", 64) + "…",
		strings.Repeat("é ", 100): `"` + strings.Repeat("é ", 32) + `…"`,
	} {
		if got := word(in); got != want {
			t.Errorf("word(%q) = %s, want %s", in, got, want)
		}
	}
}
