package stablejson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// The corpus was recorded from Node: what JSON.stringify(JSON.parse(in)) gave.

func TestAppendMatchesRecordedCases(t *testing.T) {
	type entry struct{ In, Out string }
	for line, c := range corpus[entry](t, "testdata/cases.jsonl") {
		t.Run(strconv.Itoa(line+1), func(t *testing.T) {
			got, err := stablejson.Append(nil, []byte(c.In))
			if err != nil {
				t.Fatalf("Append(%.200q): %v", c.In, err)
			}
			if want := withoutLoneSurrogates(c.Out); string(got) != want {
				t.Errorf("Append(%.200q)\n got %.300q\nwant %.300q", c.In, got, want)
			}
		})
	}
}

func TestAppendRepairsRecordedIllFormedBytes(t *testing.T) {
	type entry struct {
		In  []byte `json:"in_base64"`
		Out *string
	}
	for line, c := range corpus[entry](t, "testdata/bytes.jsonl") {
		t.Run(strconv.Itoa(line+1), func(t *testing.T) {
			got, err := stablejson.Append(nil, c.In)
			switch {
			case c.Out == nil && err == nil:
				t.Errorf("Append(%q) = %q, want an error", c.In, got)
			case c.Out != nil && err != nil:
				t.Errorf("Append(%q): %v", c.In, err)
			case c.Out != nil && string(got) != *c.Out:
				t.Errorf("Append(%q) = %q, want %q", c.In, got, *c.Out)
			}
		})
	}
}

func TestAppendRejectsWhatNodeRejects(t *testing.T) {
	type entry struct{ In string }
	for line, c := range corpus[entry](t, "testdata/invalid.jsonl") {
		t.Run(strconv.Itoa(line+1), func(t *testing.T) {
			got, err := stablejson.Append([]byte("kept"), []byte(c.In))
			var syntax *stablejson.SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("Append(%q) = %q, %v, want a SyntaxError", c.In, got, err)
			}
			if string(got) != "kept" {
				t.Errorf("Append(%q) left %q in dst", c.In, got)
			}
			if syntax.Offset < 0 || syntax.Offset > len(c.In) {
				t.Errorf("Append(%q): %v, want an offset inside the text", c.In, err)
			}
		})
	}
}

// corpus reads a file with one JSON object a line. It fails on an empty file:
// a corpus that went missing must not pass.
func corpus[T any](t *testing.T, file string) []T {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for line := range bytes.Lines(text) {
		var one T
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("%s line %d: %v", file, len(all)+1, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return all
}

// withoutLoneSurrogates turns what Node prints for a lone surrogate, \udxxx,
// into the U+FFFD that this package writes. Node prints whole pairs literally, so
// any such escape is a lone one, unless its backslash is escaped itself.
func withoutLoneSurrogates(stable string) string {
	escape := regexp.MustCompile(`\\\\|\\ud[89a-f][0-9a-f]{2}`)
	return escape.ReplaceAllStringFunc(stable, func(match string) string {
		if strings.HasPrefix(match, `\u`) {
			return "\uFFFD"
		}
		return match
	})
}
