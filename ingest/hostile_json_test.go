package ingest

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// parsing has a line for each file of JSONTestSuite: its name, and its text as a
// Go string literal.
//
//go:embed testdata/jsontestsuite/parsing.txt
var parsing string

// conformity returns the 318 files of JSONTestSuite. A name that begins with y is
// JSON, with n is not, with i is what implementations may decide.
func conformity(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"n_structure_100000_opening_arrays": strings.Repeat("[", 100_000),
		"n_structure_open_array_object":     strings.Repeat(`[{"":`, 50_000) + "\n",
	}
	for line := range strings.Lines(parsing) {
		name, literal, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		text, err := strconv.Unquote(literal)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files[name] = text
	}
	if len(files) != 318 {
		t.Fatalf("%d files, want 318", len(files))
	}
	return files
}

// refusedChoices are the files of JSONTestSuite that may be JSON and are refused
// here: those in another encoding than UTF-8, or with a byte order mark. All
// other choices are to accept, since an event that another SDK's encoder made is
// worth more with a strange character or number in it than not at all.
var refusedChoices = map[string]bool{
	"i_string_UTF-16LE_with_BOM":         true,
	"i_string_utf16BE_no_BOM":            true,
	"i_string_utf16LE_no_BOM":            true,
	"i_structure_UTF-8_BOM_empty_object": true,
}

// TestJSONConformity sends each file where a value may stand, in a call and in a
// batch.
func TestJSONConformity(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	accepted := 0
	for name, text := range conformity(t) {
		call := `{"type":"identify","userId":"u","messageId":"` + name + `","traits":{"v":` + text + `}}`
		good := name[0] == 'y' || name[0] == 'i' && !refusedChoices[name]
		for path, body := range map[string]string{
			"/v1/identify": call,
			"/v1/batch":    `{"batch":[` + call + `]}`,
			"/v1/import":   `{"context":{"v":` + text + `},"batch":[{"type":"identify","userId":"u"}]}`,
		} {
			got := s.post(t, path, body)
			if good != (got.status == http.StatusOK) {
				t.Errorf("%s: %s: got %d %s", path, name, got.status, got.body)
			}
			if good {
				accepted++
			}
			if !good && got.status != http.StatusBadRequest {
				t.Errorf("%s: %s: got %d, want a final refusal", path, name, got.status)
			}
		}
	}
	for _, r := range s.cluster.ReadAll(t, schemas.TopicRawEvents, accepted) {
		if !json.Valid(r.Value) || !utf8.Valid(r.Value) {
			t.Errorf("stored %q", r.Value)
		}
	}
	s.sound(t)
}

// TestJSONConformityOfBodies sends each file as a whole body. Not one is a call or
// a batch, JSON or not.
func TestJSONConformityOfBodies(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	for name, text := range conformity(t) {
		for _, path := range []string{"/v1/identify", "/v1/batch"} {
			got := s.post(t, path, text)
			if got.status != http.StatusBadRequest || !json.Valid([]byte(got.body)) {
				t.Errorf("%s: %s: got %d %s", path, name, got.status, got.body)
			}
			if again := s.post(t, path, text); again.status != got.status || again.body != got.body {
				t.Errorf("%s: %s: first %s\nthen %s", path, name, got.body, again.body)
			}
		}
	}
	s.stored(t, 0)
	s.sound(t)
}
