package decode

import (
	"bytes"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
)

// The tests of these files hold the published schemas and this package against
// each other: what a schema calls valid is accepted, and the other way round, but
// for the limits that no schema can say.

// published are the schemas as a validator reads them, with nothing of this
// package in between.
type published struct {
	calls  map[schemas.Type]*jsonschema.Schema
	call   *jsonschema.Schema // of a batch
	batch  *jsonschema.Schema
	errors []error
}

var publishedOnce = sync.OnceValue(func() *published {
	p := &published{calls: make(map[schemas.Type]*jsonschema.Schema)}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	p.add(compiler, schemas.BatchSchema())
	for _, call := range callTypes {
		p.add(compiler, schemas.CallSchema(call))
	}
	for _, call := range callTypes {
		p.calls[call] = p.compile(compiler, "urn:anabranch:schema:call:"+string(call))
	}
	p.call = p.compile(compiler, "urn:anabranch:schema:batch#/$defs/call")
	p.batch = p.compile(compiler, "urn:anabranch:schema:batch")
	return p
})

// schemasOf returns the published schemas, compiled once.
func schemasOf(tb testing.TB) *published {
	tb.Helper()
	p := publishedOnce()
	for _, err := range p.errors {
		tb.Fatal(err)
	}
	return p
}

func (p *published) add(compiler *jsonschema.Compiler, text []byte) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		id, _ := document.(map[string]any)["$id"].(string)
		err = compiler.AddResource(id, document)
	}
	if err != nil {
		p.errors = append(p.errors, err)
	}
}

func (p *published) compile(compiler *jsonschema.Compiler, id string) *jsonschema.Schema {
	schema, err := compiler.Compile(id)
	if err != nil {
		p.errors = append(p.errors, err)
	}
	return schema
}

var callTypes = []schemas.Type{
	schemas.TypeIdentify, schemas.TypeTrack, schemas.TypePage, schemas.TypeScreen, schemas.TypeGroup, schemas.TypeAlias,
}

// readJSON reads text as a validator would, with encoding/json: nothing of
// stablejson is in it. False is a text that is no JSON.
func readJSON(text []byte) (value any, ok bool) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return asECMAScript(value), err == nil
}

// asECMAScript makes null of the numbers beyond float64, as JSON.stringify does:
// the one thing in which readers of JSON differ here.
func asECMAScript(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = asECMAScript(value[key])
		}
	case []any:
		for i := range value {
			value[i] = asECMAScript(value[i])
		}
	case json.Number:
		if _, err := strconv.ParseFloat(string(value), 64); err != nil {
			return nil
		}
	}
	return value
}

// beyondLimits tells of a call, which begins at a depth, whether it is more than
// the limits allow that no schema says: bytes and levels.
func beyondLimits(text []byte, depth int) bool {
	return len(text) > schemas.MaxCallBytes || depth+levels(text) > schemas.MaxDepth
}

// levels returns how deep the JSON text is nested.
func levels(text []byte) int {
	if len(text) < schemas.MaxDepth {
		return 0 // too short to matter
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // one beyond float64 is no end of the text
	depth, deepest := 0, 0
	for {
		token, err := decoder.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// integrationsFit leaves out the one limit that is on what is stored: a header
// has to hold it.
func integrationsFit(value any) bool {
	call, _ := value.(map[string]any)
	text, err := json.Marshal(call["integrations"])
	return err == nil && len(text) <= schemas.MaxIntegrationsBytes/2
}

// verdict is what became of one call: the code of its refusal, "" for none.
func verdict(tb testing.TB, d *Decoder, call schemas.Type, text []byte) schemas.Code {
	tb.Helper()
	events, rejected, err := decode(d, call, bytes.Clone(text))
	switch {
	case err != nil:
		return codeOf(tb, err)
	case len(rejected) == 1 && events.Len() == 0:
		return rejected[0].Code
	case len(rejected) == 0 && events.Len() == 1:
		checkContract(tb, text, events.At(0))
		return ""
	default:
		tb.Fatalf("%s: %d events and %d refusals of one call", text, events.Len(), len(rejected))
		return ""
	}
}

func codeOf(tb testing.TB, err error) schemas.Code {
	tb.Helper()
	violation, ok := err.(*schemas.Violation) //nolint:errorlint // it is never wrapped
	if !ok {
		tb.Fatalf("%v is no violation", err)
	}
	return violation.Code
}

// checkContract holds what is stored against what the stages behind rely on.
func checkContract(tb testing.TB, text []byte, e Event) {
	tb.Helper()
	if err := schematest.CheckEvent(e.Value); err != nil {
		tb.Errorf("%s\nis stored as %s\nwhich is no event: %v", text, e.Value, err)
	}
}

// checkAgreement gives one call to its schema and to the decoder, and returns the
// code of its refusal.
func checkAgreement(tb testing.TB, d *Decoder, call schemas.Type, text []byte) schemas.Code {
	tb.Helper()
	code := verdict(tb, d, call, text)
	value, isJSON := readJSON(text)
	if beyondLimits(text, 0) || !isJSON {
		if code == "" {
			tb.Errorf("%s: accepted as %s, beyond the limits", excerpt(text), call)
		}
		return code
	}
	if invalid := schemasOf(tb).calls[call].Validate(value); (invalid == nil) != (code == "") && integrationsFit(value) {
		tb.Errorf("%s as %s\nschema:  %v\ndecoder: %q", excerpt(text), call, invalid, code)
	} else if invalid != nil && !explains(code, invalid) {
		tb.Errorf("%s as %s: refused with %s\nschema: %v", excerpt(text), call, code, invalid)
	}
	return code
}

func excerpt(text []byte) []byte { return text[:min(len(text), 2000)] }

// TestSchemasAgreeOnCalls is the promise of the published schemas: on each of a
// hundred thousand calls they say what ingest does.
func TestSchemasAgreeOnCalls(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := make(map[schemas.Code]int)
	t.Cleanup(func() { checkCorpus(t, seen) })
	for seed, call := range callTypes {
		t.Run(string(call), func(t *testing.T) {
			t.Parallel()
			codes := agreeOn(t, uint64(seed), call)
			mu.Lock()
			defer mu.Unlock()
			for code, n := range codes {
				seen[code] += n
			}
		})
	}
}

// checkCorpus wants every code among the verdicts that a single call may have:
// agreement on calls that are all good, say, would prove little.
func checkCorpus(t *testing.T, seen map[schemas.Code]int) {
	t.Helper()
	for code := range refusedWith {
		switch code {
		case schemas.CodeTypeUnknown, schemas.CodeTooManyEvents, schemas.CodeEmptyBatch: // of batches
		default:
			if seen[code] < callsPerType/200 && !t.Failed() {
				t.Errorf("%d calls were refused with %s, want more: %v", seen[code], code, seen)
			}
		}
	}
}

// agreeOn checks generated calls of one type and counts their verdicts.
func agreeOn(t *testing.T, seed uint64, call schemas.Type) map[schemas.Code]int {
	t.Helper()
	g, d := schematest.New(seed), new(Decoder)
	codes := make(map[schemas.Code]int)
	for range callsPerType {
		text := g.Call(call, false)
		if !utf8.Valid(text) {
			t.Fatalf("call is not UTF-8: %q", text)
		}
		codes[checkAgreement(t, d, call, text)]++
		if t.Failed() {
			break
		}
	}
	if !t.Failed() && (codes[""] < callsPerType/5 || codes[""] > callsPerType*4/5) {
		t.Errorf("%d of %d calls were accepted: %v", codes[""], callsPerType, codes)
	}
	return codes
}
