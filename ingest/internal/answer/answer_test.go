package answer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

func refusals() []decode.Refusal {
	return []decode.Refusal{
		{Index: 3, MessageID: `a"b`, Violation: schemas.Violation{Code: schemas.CodeTypeUnknown, Message: "found no type"}},
		{Index: 12, Violation: schemas.Violation{Code: schemas.CodeTooLarge, Message: "is long"}},
	}
}

func TestWrite(t *testing.T) {
	const list = `"rejected":[{"index":3,"messageId":"a\"b","code":"type_unknown","message":"found no type"},{"index":12,"messageId":"","code":"too_large","message":"is long"}]`
	for name, c := range map[string]struct {
		problem  *Problem
		rejected []decode.Refusal
		status   int
		body     string
		header   http.Header
	}{
		"success":      {nil, nil, 200, `{"success":true}`, nil},
		"some refused": {nil, refusals(), 200, `{"success":true,` + list + `}`, nil},
		"none accepted": {
			NoneAccepted(refusals(), true), refusals(), 400,
			`{"success":false,"code":"type_unknown","message":"found no type","error":"found no type",` + list + `}`, nil,
		},
		"one call refused": {
			NoneAccepted(refusals(), false), refusals(), 400,
			`{"success":false,"code":"type_unknown","message":"found no type","error":"found no type"}`, nil,
		},
		"wrong method": {MethodNotAllowed(), nil, 405, errorBody(MethodNotAllowed()), http.Header{"Allow": {"OPTIONS, POST"}}},
		"compressed":   {UnknownCoding(), nil, 415, errorBody(UnknownCoding()), http.Header{"Accept-Encoding": {"gzip, identity"}}},
		"damaged":      {NotGzip(errors.New("checksum")), nil, 400, errorBody(NotGzip(nil)), nil},
		"too much":     {TooManyEvents(7), nil, 429, errorBody(TooManyEvents(7)), http.Header{"Retry-After": {"7"}}},
		"guessing":     {TooManyWrongKeys(60), nil, 429, errorBody(TooManyWrongKeys(60)), http.Header{"Retry-After": {"60"}}},
		"not stored":   {Of(errors.New("no leader")), nil, 503, errorBody(unavailable(nil)), http.Header{"Retry-After": {"1"}}},
		"wrong key":    {WrongKey(), nil, 401, errorBody(WrongKey()), nil},
	} {
		w := httptest.NewRecorder()
		Write(w, c.problem, c.rejected)
		header := http.Header{"Content-Type": {"application/json"}}
		maps.Copy(header, c.header)
		if w.Code != c.status || w.Body.String() != c.body {
			t.Errorf("%s: got %d %s\nwant %d %s", name, w.Code, w.Body, c.status, c.body)
		}
		if diff := cmp.Diff(header, w.Header()); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", name, diff)
		}
	}
}

func errorBody(p *Problem) string {
	return fmt.Sprintf(`{"success":false,"code":%q,"message":%q,"error":%q}`, p.Code, p.Message, p.Message)
}

func TestOf(t *testing.T) {
	cause := errors.New("cut")
	violation := &schemas.Violation{Code: schemas.CodeEmptyBatch, Message: "no events"}
	for name, c := range map[string]struct {
		err  error
		want Problem
	}{
		"a problem":         {fmt.Errorf("wrapped: %w", Incomplete(cause)), Problem{Status: 408, Code: codeIncomplete, Cause: cause}},
		"a broken rule":     {fmt.Errorf("wrapped: %w", violation), Problem{Status: 400, Code: schemas.CodeEmptyBatch}},
		"anything else":     {cause, Problem{Status: 503, Code: codeUnavailable, Cause: cause}},
		"a long batch":      {TooLong(5, true), Problem{Status: 413, Code: schemas.CodeTooLarge}},
		"a long call":       {TooLong(5, false), Problem{Status: 400, Code: schemas.CodeTooLarge}},
		"no path of ours":   {NotFound(), Problem{Status: 404, Code: codeNotFound}},
		"no key, or wrong":  {WrongKey(), Problem{Status: 401, Code: CodeWriteKey}},
		"compressed":        {UnknownCoding(), Problem{Status: 415, Code: codeCoding}},
		"damaged":           {NotGzip(cause), Problem{Status: 400, Code: codeNotGzip, Cause: cause}},
		"too many events":   {TooManyEvents(1), Problem{Status: 429, Code: codeTooMany}},
		"too many guesses":  {TooManyWrongKeys(1), Problem{Status: 429, Code: codeTooMany}},
		"not a POST":        {MethodNotAllowed(), Problem{Status: 405, Code: codeMethod}},
		"none of its calls": {NoneAccepted(refusals(), false), Problem{Status: 400, Code: schemas.CodeTypeUnknown}},
	} {
		got := Of(c.err)
		if got.Status != c.want.Status || got.Code != c.want.Code || !errors.Is(got.Cause, c.want.Cause) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// FuzzWrite shows that every answer is stable JSON, whatever it quotes.
func FuzzWrite(f *testing.F) {
	f.Add("track: found nothing", "m", 0)
	f.Add("\xff\u2028\"\\", "\x00<", -1)
	f.Fuzz(func(t *testing.T, message, id string, index int) {
		rejected := []decode.Refusal{{Index: index, MessageID: id, Violation: schemas.Violation{Code: schemas.CodeInvalidJSON, Message: message}}}
		rejected = append(rejected, rejected[0])
		for _, p := range []*Problem{nil, NoneAccepted(rejected, false), NoneAccepted(rejected, true)} {
			w := httptest.NewRecorder()
			Write(w, p, rejected)
			if stable, err := stablejson.Append(nil, w.Body.Bytes()); err != nil || !bytes.Equal(stable, w.Body.Bytes()) {
				t.Fatalf("%q is not stable JSON: %v", w.Body, err)
			}
		}
	})
}
