package decode

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/anabranch/anabranch/schemas"
)

// refusedWith says which failures of the schemas stand behind a code: the member
// and the keyword, the member being empty for the call or the request itself.
var refusedWith = map[schemas.Code][]string{
	schemas.CodeTypeUnknown: {"type required", "type enum"},
	schemas.CodeNoUserAnonID: {
		"userId required", "userId type", "userId minLength",
		"anonymousId required", "anonymousId type", "anonymousId minLength",
	},
	schemas.CodeIDRequired: {
		"groupId required", "groupId type", "groupId minLength",
		"previousId required", "previousId type", "previousId minLength",
		"userId required", "userId type", "userId minLength", // of an alias
	},
	schemas.CodeEventNotDefined:     {"event required", "event type", "event minLength"}, // type: null
	schemas.CodeEventNotString:      {"event type"},
	schemas.CodeNameNotString:       {"name type"},
	schemas.CodePropertiesNotObject: {"properties type", "properties maxItems"},
	schemas.CodeTraitsNotObject:     {"traits type", "traits maxItems"},
	schemas.CodeTooLarge:            {"messageId maxLength"},
	schemas.CodeInvalidJSON:         {" type"},
	schemas.CodeTooManyEvents:       {"batch maxItems"},
	schemas.CodeEmptyBatch:          {"batch required", "batch type", "batch minItems"},
}

// explains tells whether the schema fails at what the code is about.
func explains(code schemas.Code, invalid error) bool {
	return slices.ContainsFunc(failures(invalid), func(failure string) bool {
		return slices.Contains(refusedWith[code], failure)
	})
}

// failures returns where a schema failed, as refusedWith names it.
func failures(invalid error) (all []string) {
	e, ok := errors.AsType[*jsonschema.ValidationError](invalid)
	if !ok {
		return nil
	}
	for _, cause := range e.Causes {
		all = append(all, failures(cause)...)
	}
	if len(e.Causes) > 0 {
		return all
	}
	at := strings.Join(e.InstanceLocation, "/")
	if r, ok := e.ErrorKind.(*kind.Required); ok {
		for _, missing := range r.Missing {
			all = append(all, missing+" required")
		}
		return all
	}
	return append(all, at+" "+strings.Join(e.ErrorKind.KeywordPath(), "/"))
}

func TestEveryCodeHasItsKeywords(t *testing.T) {
	t.Parallel()
	for _, code := range schemas.Codes() {
		if len(refusedWith[code]) == 0 {
			t.Errorf("no keyword stands behind %s", code)
		}
	}
}

// TestCodesNameTheKeywordThatFails has a call, or a batch where there is no
// type, for each keyword of the schemas that can fail.
func TestCodesNameTheKeywordThatFails(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, c := range []struct {
		path    schemas.Type
		body    string
		code    schemas.Code
		failure string
	}{
		{"identify", `{}`, schemas.CodeNoUserAnonID, "userId required"},
		{"identify", `{}`, schemas.CodeNoUserAnonID, "anonymousId required"},
		{"identify", `{"userId":""}`, schemas.CodeNoUserAnonID, "userId minLength"},
		{"identify", `{"anonymousId":""}`, schemas.CodeNoUserAnonID, "anonymousId minLength"},
		{"identify", `{"userId":null}`, schemas.CodeNoUserAnonID, "userId type"},
		{"track", `{"userId":true,"anonymousId":"a","event":"e"}`, schemas.CodeNoUserAnonID, "userId type"},
		{"alias", `{"userId":"u","previousId":"p","anonymousId":[]}`, schemas.CodeNoUserAnonID, "anonymousId type"},
		{"group", `{"userId":"u"}`, schemas.CodeIDRequired, "groupId required"},
		{"group", `{"userId":"u","groupId":""}`, schemas.CodeIDRequired, "groupId minLength"},
		{"group", `{"userId":"u","groupId":null}`, schemas.CodeIDRequired, "groupId type"},
		{"track", `{"userId":"u","event":"e","groupId":{}}`, schemas.CodeIDRequired, "groupId type"},
		{"alias", `{"userId":"u"}`, schemas.CodeIDRequired, "previousId required"},
		{"alias", `{"userId":"u","previousId":""}`, schemas.CodeIDRequired, "previousId minLength"},
		{"page", `{"userId":"u","previousId":false}`, schemas.CodeIDRequired, "previousId type"},
		{"alias", `{"previousId":"p","anonymousId":"a"}`, schemas.CodeIDRequired, "userId required"},
		{"alias", `{"previousId":"p","userId":""}`, schemas.CodeIDRequired, "userId minLength"},
		{"alias", `{"previousId":"p","userId":null}`, schemas.CodeIDRequired, "userId type"},
		{"track", `{"userId":"u"}`, schemas.CodeEventNotDefined, "event required"},
		{"track", `{"userId":"u","event":null}`, schemas.CodeEventNotDefined, "event type"},
		{"track", `{"userId":"u","event":""}`, schemas.CodeEventNotDefined, "event minLength"},
		{"track", `{"userId":"u","event":7}`, schemas.CodeEventNotString, "event type"},
		{"page", `{"userId":"u","name":7}`, schemas.CodeNameNotString, "name type"},
		{"screen", `{"userId":"u","properties":"x"}`, schemas.CodePropertiesNotObject, "properties type"},
		{"track", `{"userId":"u","event":"e","properties":[0]}`, schemas.CodePropertiesNotObject, "properties maxItems"},
		{"identify", `{"userId":"u","traits":true}`, schemas.CodeTraitsNotObject, "traits type"},
		{"group", `{"userId":"u","groupId":"g","traits":[{}]}`, schemas.CodeTraitsNotObject, "traits maxItems"},
		{"identify", `{"userId":"u","messageId":"` + strings.Repeat("é", 101) + `"}`, schemas.CodeTooLarge, "messageId maxLength"},
		{"identify", `[]`, schemas.CodeInvalidJSON, " type"},
		{"", `[]`, schemas.CodeInvalidJSON, " type"},
		{"", `{}`, schemas.CodeEmptyBatch, "batch required"},
		{"", `{"batch":{}}`, schemas.CodeEmptyBatch, "batch type"},
		{"", `{"batch":[]}`, schemas.CodeEmptyBatch, "batch minItems"},
		{"", `{"batch":[0` + strings.Repeat(",0", 2500) + `]}`, schemas.CodeTooManyEvents, "batch maxItems"},
	} {
		schema := schemasOf(t).batch
		if c.path != "" {
			schema = schemasOf(t).calls[c.path]
		}
		checkFailure(t, schema, c.body, c.failure)
		if got := verdict(t, new(Decoder), c.path, []byte(c.body)); got != c.code {
			t.Errorf("%.80s as %q: refused with %q, want %s", c.body, c.path, got, c.code)
		}
		if !slices.Contains(refusedWith[c.code], c.failure) {
			t.Errorf("%s is not among what is refused with %s", c.failure, c.code)
		}
		seen[string(c.code)+": "+c.failure] = true
	}
	for _, c := range []struct{ call, failure string }{
		{`{"userId":"u"}`, "type required"},
		{`{"userId":"u","type":"delete"}`, "type enum"},
	} {
		checkFailure(t, schemasOf(t).call, c.call, c.failure)
		if got := verdict(t, new(Decoder), "", []byte(`{"batch":[`+c.call+`]}`)); got != schemas.CodeTypeUnknown {
			t.Errorf("%s in a batch: refused with %q", c.call, got)
		}
		seen[string(schemas.CodeTypeUnknown)+": "+c.failure] = true
	}
	for code, failures := range refusedWith {
		for _, failure := range failures {
			if !seen[string(code)+": "+failure] {
				t.Errorf("no example of %s for %s", failure, code)
			}
		}
	}
}

func checkFailure(t *testing.T, schema *jsonschema.Schema, text, failure string) {
	t.Helper()
	value, _ := readJSON([]byte(text))
	if got := failures(schema.Validate(value)); !slices.Contains(got, failure) {
		t.Errorf("%.80s: the schema fails at %q, want %q among it", text, got, failure)
	}
}
