package rawtext

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestWholeNumbers(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":12345678901234567890}`:            "12345678901234567890",
		`{ "id" : -7 }`:                          "-7",
		`{"id":1,"id":2}`:                        "2",
		`{"\u0069d":3}`:                          "3",
		`{"a":{"id":1},"b":[{"id":2}]}`:          "",
		`{"id":1.0}`:                             "",
		`{"id":1e3}`:                             "",
		`{"id":"1"}`:                             "",
		`{"id":1,"id":"x"}`:                      "1", // the caller looks whether the last is a number
		`{"id":1`:                                "",
		`[1]`:                                    "",
		``:                                       "",
		`{"id":` + "1" + `,"x":"\"id\":2"}`:      "1",
		`{"id":00}`:                              "",
		`{"id":123456789012345678901234567890 }`: "123456789012345678901234567890",
	} {
		if got := string(wholeNumber([]byte(text))); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func wholeNumber(text []byte) []byte { return WholeNumbers(text, []string{"other", "id"})[1] }

// FuzzWholeNumbers holds what is found against encoding/json's reading of the text.
func FuzzWholeNumbers(f *testing.F) {
	for _, seed := range []string{`{"id":12345678901234567890}`, `{"id":1,"id":2.5}`, `{"a":{"id":1},"\u0069d":3}`, `{"id":-0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := wholeNumber(text)
		if got == nil {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatalf("%q: found %s in what is no object: %v", text, got, err)
		}
		if value := object["id"]; len(value) > 0 && value[0] != '"' && bytes.ContainsAny(value[:1], "-0123456789") && !bytes.Equal(value, got) {
			t.Fatalf("%q: got %s, want %s", text, got, value)
		}
	})
}
