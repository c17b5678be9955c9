package decode

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
)

// batchLevel is how deep in the body of a batch its calls are.
const batchLevel = 2

// checkBatchAgreement gives a batch to its schema and to the decoder, and each of
// its calls to the schema of one. It returns how many were good, and how many not.
func checkBatchAgreement(tb testing.TB, d *Decoder, text []byte) (good, bad int) {
	tb.Helper()
	events, rejected, err := decode(d, "", bytes.Clone(text))
	value, isJSON := readJSON(text)
	invalid := schemasOf(tb).batch.Validate(value)
	if err != nil {
		checkNoBatch(tb, text, codeOf(tb, err), isJSON, invalid)
		return 0, 0
	}
	if !isJSON {
		tb.Fatalf("%s: taken apart, but is not JSON", excerpt(text))
	}
	refused := make(map[int]schemas.Code, len(rejected))
	for _, r := range rejected {
		refused[r.Index] = r.Code
	}
	limited := checkCalls(tb, text, refused)
	for i := range events.Len() {
		checkContract(tb, text, events.At(i))
	}
	if (invalid == nil) != (events.Len() > 0) && !limited {
		tb.Errorf("%s\nschema:  %v\ndecoder: %d good calls", excerpt(text), invalid, events.Len())
	}
	return events.Len(), len(rejected)
}

// checkNoBatch judges the refusal of a batch as a whole.
func checkNoBatch(tb testing.TB, text []byte, code schemas.Code, isJSON bool, invalid error) {
	tb.Helper()
	switch {
	case !isJSON && code != schemas.CodeInvalidJSON && code != schemas.CodeTooLarge:
		tb.Errorf("%s: is not JSON, refused with %s", excerpt(text), code)
	case isJSON && code == schemas.CodeTooLarge && levels(text) <= schemas.MaxDepth && len(text) < 64<<10:
		tb.Errorf("%s: refused with %s", excerpt(text), code)
	case isJSON && code != schemas.CodeTooLarge && !explains(code, invalid):
		tb.Errorf("%s: refused with %s\nschema: %v", excerpt(text), code, invalid)
	}
}

// checkCalls judges each call of a batch on its own and tells whether one was
// beyond the limits.
func checkCalls(tb testing.TB, text []byte, refused map[int]schemas.Code) (limited bool) {
	tb.Helper()
	var body struct {
		Batch []json.RawMessage `json:"batch"`
	}
	if err := json.Unmarshal(rename(text), &body); err != nil {
		tb.Fatalf("%s: %v", excerpt(text), err)
	}
	for i, call := range body.Batch {
		code := refused[i]
		value, _ := readJSON(call)
		if beyondLimits(call, batchLevel) || !integrationsFit(value) {
			limited = true
			continue
		}
		if invalid := schemasOf(tb).call.Validate(value); (invalid == nil) != (code == "") {
			tb.Errorf("call %d: %s\nschema:  %v\ndecoder: %q", i, excerpt(call), invalid, code)
		} else if invalid != nil && !explains(code, invalid) && !explains(schemas.CodeTypeUnknown, invalid) {
			// Without a type no schema is asked about the rest; the decoder is.
			tb.Errorf("call %d: %s: refused with %s\nschema: %v", i, excerpt(call), code, invalid)
		}
	}
	return limited
}

// rename leaves only the key "batch" of an object, spelled exactly: encoding/json
// would fill a field from "Batch" too.
func rename(text []byte) []byte {
	var body map[string]json.RawMessage
	if json.Unmarshal(text, &body) != nil {
		return text
	}
	alone, err := json.Marshal(map[string]json.RawMessage{"batch": body["batch"]})
	if err != nil {
		return text
	}
	return alone
}

func TestSchemasAgreeOnBatches(t *testing.T) {
	t.Parallel()
	const batches = callsPerType / 16
	g, d := schematest.New(100), new(Decoder)
	good, bad, empty := 0, 0, 0
	for range batches {
		g, b := checkBatchAgreement(t, d, g.Batch(12))
		good, bad = good+g, bad+b
		if g+b == 0 {
			empty++
		}
		if t.Failed() {
			return
		}
	}
	if good < batches || bad < batches || empty < batches/60 {
		t.Errorf("%d good and %d bad calls, %d batches without any: too few for a test that means something", good, bad, empty)
	}
}

// TestSchemasAgreeOnRecordings takes what SDKs really send. All of it is good.
func TestSchemasAgreeOnRecordings(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/captures/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("find recordings: %d, %v", len(files), err)
	}
	calls := 0
	for _, file := range files {
		path, body := recording(t, file)
		if kind, ok := pathTypes[path]; ok {
			if code := checkAgreement(t, new(Decoder), kind, body); code != "" {
				t.Errorf("%s: refused with %s", file, code)
			}
			calls++
			continue
		}
		if !strings.HasPrefix(path, "/v1/b") && !strings.HasPrefix(path, "/v1/import") && !strings.HasPrefix(path, "/beacon") {
			continue // it has no calls
		}
		good, bad := checkBatchAgreement(t, new(Decoder), body)
		if good == 0 || bad > 0 {
			t.Errorf("%s: %d good calls and %d bad", file, good, bad)
		}
		calls += good
	}
	if calls < 20 {
		t.Errorf("%d calls in %d recordings", calls, len(files))
	}
}

var pathTypes = map[string]schemas.Type{
	"/v1/i": schemas.TypeIdentify, "/v1/identify": schemas.TypeIdentify,
	"/v1/t": schemas.TypeTrack, "/v1/track": schemas.TypeTrack,
	"/v1/p": schemas.TypePage, "/v1/page": schemas.TypePage,
	"/v1/s": schemas.TypeScreen, "/v1/screen": schemas.TypeScreen,
	"/v1/g": schemas.TypeGroup, "/v1/group": schemas.TypeGroup,
	"/v1/a": schemas.TypeAlias, "/v1/alias": schemas.TypeAlias,
}

// recording returns path and decoded body of a recorded request; no path when it
// is not a POST.
func recording(t *testing.T, file string) (path string, body []byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Method  string `json:"method"`
		Path    string `json:"path"`
		Body    string `json:"body"`
		Encoded string `json:"body_base64"`
	}
	if err = json.Unmarshal(text, &r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if r.Method != http.MethodPost {
		return "", nil
	}
	path, _, _ = strings.Cut(r.Path, "?")
	if r.Encoded == "" {
		return strings.TrimSuffix(path, "/"), []byte(r.Body)
	}
	body, err = base64.StdEncoding.DecodeString(r.Encoded)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return strings.TrimSuffix(path, "/"), inflate(t, body)
}

func inflate(t *testing.T, body []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
