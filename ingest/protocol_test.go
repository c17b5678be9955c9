package ingest

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// tail is what ends every stored call without time stamps of its own.
const tail = `"timestamp":"2026-11-21T12:00:00.000Z","receivedAt":"2026-11-21T12:00:00.000Z"}`

// exchange is one request with all that comes of it.
type exchange struct {
	name    string
	path    string
	body    string
	options []func(*http.Request)
	status  int      // 200 if zero
	answer  string   // {"success":true} if empty
	stored  []string // as render shows records
}

// exchangeAll sends every request to one stage, in order, and then compares what
// is stored: nothing may be there that no case expects.
func exchangeAll(t *testing.T, cases []exchange) {
	t.Helper()
	s := start(t, testkit.Brokers(t))
	var want []string
	for _, c := range cases {
		status, text := c.status, c.answer
		if status == 0 {
			status = http.StatusOK
		}
		if text == "" {
			text = success
		}
		got := s.post(t, c.path, c.body, c.options...)
		if got.status != status || got.body != text {
			t.Errorf("%s: got %d %s\nwant %d %s", c.name, got.status, got.body, status, text)
		}
		if got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: Content-Type %q", c.name, got.header.Get("Content-Type"))
		}
		want = append(want, c.stored...)
	}
	if diff := cmp.Diff(want, s.stored(t, len(want))); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
}

func TestSingleCallsByEveryName(t *testing.T) {
	var cases []exchange
	for _, names := range [][2]string{{"identify", "i"}, {"track", "t"}, {"page", "p"}, {"screen", "s"}, {"group", "g"}, {"alias", "a"}} {
		for _, name := range names {
			for _, slash := range []string{"", "/"} {
				cases = append(cases, exchange{
					name: name + slash, path: "/v1/" + name + slash,
					body:   `{"userId":"u","event":"E","groupId":"g","previousId":"p","messageId":"m"}`,
					stored: []string{`u source=website type=` + names[0] + ` message-id=m origin=api {"userId":"u","event":"E","groupId":"g","previousId":"p","messageId":"m","type":"` + names[0] + `",` + tail},
				})
			}
		}
	}
	exchangeAll(t, cases)
}

func TestBatchesByEveryName(t *testing.T) {
	var cases []exchange
	for _, path := range []string{"/v1/batch", "/v1/batch/", "/v1/v1/batch", "/v1/v1/v1/b/", "/v1/import", "/v1/import/", "/v1/b", "/v1/b/", "/beacon/v1/batch", "/beacon/v1/batch/"} {
		cases = append(cases, exchange{
			name: path, path: path,
			body: `{"batch":[{"type":"track","event":"A","userId":"u","messageId":"1","context":{"ip":null}},{"type":"page","anonymousId":"n","messageId":"2","context":{"ip":"192.0.2.1"}}]}`,
			stored: []string{
				`u source=website type=track message-id=1 origin=api {"type":"track","event":"A","userId":"u","messageId":"1","context":{"ip":null},` + tail,
				`n source=website type=page message-id=2 origin=api {"type":"page","anonymousId":"n","messageId":"2","context":{"ip":"192.0.2.1"},` + tail,
			},
		})
	}
	exchangeAll(t, cases)
}

func TestKeysAndWhereTheyStand(t *testing.T) {
	const refused = `{"success":false,"code":"invalid_write_key","message":"the write key is missing, unknown or disabled","error":"the write key is missing, unknown or disabled"}`
	call := func(key string) string { return `{"userId":"u","messageId":"m"` + key + `}` }
	stored := func(source string) []string {
		return []string{`u source=` + source + ` type=identify message-id=m origin=api {"userId":"u","messageId":"m","type":"identify",` + tail}
	}
	basic := func(user string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(user, "") }
	}
	options := func(o ...func(*http.Request)) []func(*http.Request) { return o }
	exchangeAll(t, []exchange{
		{name: "basic", path: "/v1/i", body: call(""), stored: stored("website")},
		{name: "basic without a colon", path: "/v1/i", body: call(""), options: options(with("Authorization", "Basic d2tfYXBw")), stored: stored("app")},
		{name: "basic goes before body and query", path: "/v1/i?writeKey=wk_app", body: call(`,"writeKey":"wk_app"`), stored: stored("website")},
		{name: "body", path: "/v1/i", body: call(`,"writeKey":"wk_app"`), options: options(noAuth), stored: stored("app")},
		{name: "body goes before query", path: "/v1/i?writeKey=wk_website", body: call(`,"writeKey":"wk_app"`), options: options(noAuth), stored: stored("app")},
		{name: "query", path: "/v1/i?writeKey=wk_app", body: call(""), options: options(noAuth), stored: stored("app")},
		{name: "the body's is null", path: "/v1/i?writeKey=wk_app", body: call(`,"writeKey":null`), options: options(noAuth), stored: stored("app")},
		{name: "the body's is empty", path: "/v1/i?writeKey=wk_app", body: call(`,"writeKey":""`), options: options(noAuth), stored: stored("app")},
		{name: "an empty basic user leaves it to the body", path: "/v1/i", body: call(`,"writeKey":"wk_app"`), options: options(basic("")), stored: stored("app")},
		{name: "another scheme leaves it to the body", path: "/v1/i", body: call(`,"writeKey":"wk_app"`), options: options(with("Authorization", "Bearer x")), stored: stored("app")},
		{
			name: "behind the calls of a batch", path: "/v1/batch", options: options(noAuth),
			body:   `{"batch":[{"type":"identify","userId":"u","messageId":"m","writeKey":"never stored"}],"writeKey":"wk_app"}`,
			stored: []string{`u source=app type=identify message-id=m origin=api {"type":"identify","userId":"u","messageId":"m",` + tail},
		},
		{name: "none", path: "/v1/i", body: call(""), options: options(noAuth), status: 401, answer: refused},
		{name: "unknown", path: "/v1/i", body: call(""), options: options(basic("wk_nobody")), status: 401, answer: refused},
		{name: "disabled", path: "/v1/i", body: call(""), options: options(basic(disabledKey)), status: 401, answer: refused},
		{name: "unknown in the body", path: "/v1/i", body: call(`,"writeKey":"wk_nobody"`), options: options(noAuth), status: 401, answer: refused},
		{name: "disabled in the query", path: "/v1/i?writeKey=" + disabledKey, body: call(""), options: options(noAuth), status: 401, answer: refused},
		{name: "a wrong basic is not rescued by the body", path: "/v1/i?writeKey=wk_app", body: call(`,"writeKey":"wk_app"`), options: options(basic("wk_nobody")), status: 401, answer: refused},
		{name: "nor an unreadable one", path: "/v1/i?writeKey=wk_app", body: call(`,"writeKey":"wk_app"`), options: options(with("Authorization", "Basic !")), status: 401, answer: refused},
		{name: "before what is wrong with the call", path: "/v1/i", body: `{}`, options: options(noAuth), status: 401, answer: refused},
		{name: "before what is wrong with the batch", path: "/v1/batch", body: `{"batch":[]}`, options: options(noAuth), status: 401, answer: refused},
		{name: "a wrong basic before bad JSON", path: "/v1/i", body: `{`, options: options(basic("wk_nobody")), status: 401, answer: refused},
		{
			name: "of a beacon", path: "/beacon/v1/batch?writeKey=wk_app", body: `{"batch":[{"type":"identify","userId":"u","messageId":"m","context":{"ip":""}}]}`, options: options(noAuth),
			stored: []string{`u source=app type=identify message-id=m origin=api {"type":"identify","userId":"u","messageId":"m","context":{"ip":""},` + tail},
		},
		{name: "a wrong one of a beacon", path: "/beacon/v1/batch?writeKey=wk_nobody", body: `{"batch":[` + oneCall + `]}`, options: options(noAuth), status: 401, answer: refused},
		{name: "none of a beacon", path: "/beacon/v1/batch", body: `{"batch":[` + oneCall + `]}`, options: options(noAuth), status: 401, answer: refused},
		{name: "a beacon's wrong basic is not rescued by the query", path: "/beacon/v1/batch?writeKey=wk_app", body: `{"batch":[` + oneCall + `]}`, options: options(basic("wk_nobody")), status: 401, answer: refused},
		{name: "a source that lives is no password", path: "/v1/i", body: call(""), options: options(func(r *http.Request) { r.SetBasicAuth("x", goodKey) }), status: 401, answer: refused},
	})
}

// compress returns text as a gzip stream.
func compress(text string) string {
	var b strings.Builder
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// errorBody is an error answer without refusals.
func errorBody(code, message string) string {
	return `{"success":false,"code":"` + code + `","message":"` + message + `","error":"` + message + `"}`
}

func TestRequestsThatAreNoCalls(t *testing.T) {
	notFound := errorBody("not_found", "no such path: calls go to /v1/batch, /v1/import, or /v1/ with the type of one call")
	notPost := errorBody("method_not_allowed", "calls are sent with POST")
	coding := errorBody("unsupported_encoding", "the body has a Content-Encoding that is not accepted: compress it once with gzip, or not at all")
	notGzip := errorBody("invalid_encoding", "the body is not a complete gzip stream, although it begins like one or its Content-Encoding says so")
	cases := []exchange{
		{name: "another coding", path: "/v1/t", options: []func(*http.Request){with("Content-Encoding", "br")}, status: 415, answer: coding},
		{name: "gzip in gzip", path: "/v1/t", options: []func(*http.Request){with("Content-Encoding", "gzip, gzip")}, status: 415, answer: coding},
		{name: "not gzip", path: "/v1/t", body: `{}`, options: []func(*http.Request){with("Content-Encoding", "gzip")}, status: 400, answer: notGzip},
		{name: "half of a gzip stream", path: "/v1/t", body: compress(oneCall)[:20], status: 400, answer: notGzip},
		{name: "bad JSON in gzip", path: "/v1/t", body: compress(`{`), options: []func(*http.Request){with("Content-Encoding", "gzip")}, status: 400, answer: errorBody("invalid_json", "the body is not JSON: offset 1: text ends early: expected object key")},
		{name: "empty", path: "/v1/t", status: 400, answer: errorBody("invalid_json", "the body is not JSON: offset 0: text ends early: expected a value")},
		{name: "empty batch body", path: "/v1/batch", body: " ", status: 400, answer: errorBody("invalid_json", "the body is not JSON: offset 1: text ends early: expected a value")},
		{name: "cut off", path: "/v1/batch", body: `{"batch":[{"type":"track"`, status: 400, answer: errorBody("invalid_json", `the body is not JSON: offset 25: text ends early: expected ',' or '}' after object member`)},
		{name: "trailing garbage", path: "/v1/t", body: `{"userId":"u","event":"e"} x`, status: 400, answer: errorBody("invalid_json", "the body is not JSON: offset 27: expected the end of the text")},
		{name: "two calls", path: "/v1/t", body: `{"userId":"u","event":"e"}{"userId":"u","event":"e"}`, status: 400, answer: errorBody("invalid_json", "the body is not JSON: offset 26: expected the end of the text")},
		{name: "bad JSON deep inside a good batch", path: "/v1/batch", body: `{"batch":[{"type":"track","event":"e","userId":"u"},{"a":[01]}]}`, status: 400, answer: errorBody("invalid_json", "the body is not JSON: offset 59: number with a leading zero")},
		{name: "no object", path: "/v1/t", body: `[]`, status: 400, answer: errorBody("invalid_json", "the call is not a JSON object")},
		{name: "no object in batch", path: "/v1/batch", body: `[]`, status: 400, answer: errorBody("invalid_json", "the body is not a JSON object")},
		{name: "too deep", path: "/v1/t", body: `{"userId":"u","event":"e","properties":` + strings.Repeat(`{"a":`, 512) + `1` + strings.Repeat(`}`, 512) + `}`, status: 400, answer: errorBody("too_large", "offset 2594: nested deeper than 512 levels")},
	}
	for _, path := range []string{"/", "/v1", "/v1/", "/v1/x", "/v1/track//", "/v2/track", "/v1/batch/x", "/v1/delete", "/v1/V1/t", "/v1/Track", "/beacon/v1/track", "/beacon/v1", "/v1/beacon/batch"} {
		cases = append(cases, exchange{name: path, path: path, body: `{}`, status: 404, answer: notFound})
	}
	for _, name := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodPatch} {
		cases = append(cases, exchange{name: name, path: "/v1/t", options: []func(*http.Request){method(name)}, status: 405, answer: notPost},
			exchange{name: name + " of what is discarded", path: "/v1/m", options: []func(*http.Request){method(name)}, status: 405, answer: notPost})
	}
	for _, body := range []string{`{}`, `{"batch":[]}`, `{"batch":null}`, `{"batch":{}}`, `{"batch":"x"}`, `{"batch":[{"type":"track"}],"batch":[]}`, `{"userId":"u"}`} {
		cases = append(cases, exchange{name: body, path: "/v1/batch", body: body, status: 400, answer: errorBody("empty_batch", "the body has no events: expected an array of them under the key batch")})
	}
	exchangeAll(t, cases)
}

func TestHeadersOfAnswers(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	if got := s.post(t, "/v1/t", "", method(http.MethodGet)).header.Get("Allow"); got != "OPTIONS, POST" {
		t.Errorf("405: Allow is %q", got)
	}
	if got := s.post(t, "/v1/t", "", with("Content-Encoding", "br")).header.Get("Accept-Encoding"); got != "gzip, identity" {
		t.Errorf("415: Accept-Encoding is %q", got)
	}
	if got := s.post(t, "/v1/t", "{}", noAuth).header.Values("WWW-Authenticate"); got != nil {
		t.Errorf("401: WWW-Authenticate is %q: browsers would ask the visitor for a password", got)
	}
	if got := s.post(t, "/v1/t", "", method(http.MethodHead)); got.status != http.StatusMethodNotAllowed || got.body != "" {
		t.Errorf("HEAD: got %d %q", got.status, got.body)
	}
}

func TestAnyContentTypeIsJSON(t *testing.T) {
	var cases []exchange
	for _, kind := range []string{"application/json", "text/plain", "application/x-www-form-urlencoded", "nonsense", "multipart/form-data", ""} {
		cases = append(cases, exchange{
			name: kind, path: "/v1/i", body: `{"userId":"u","messageId":"m"}`,
			options: []func(*http.Request){with("Content-Type", kind), with("Content-Encoding", "identity")},
			stored:  []string{`u source=website type=identify message-id=m origin=api {"userId":"u","messageId":"m","type":"identify",` + tail},
		})
	}
	exchangeAll(t, cases)
}

func TestABatchWithoutAGoodCall(t *testing.T) {
	const first, second = `track: found nothing for event, expected its name`, `the call is not a JSON object`
	exchangeAll(t, []exchange{{
		name: "two bad calls", path: "/v1/import", body: `{"batch":[{"type":"track","userId":"u","messageId":"a\"b"},7]}`, status: 400,
		answer: `{"success":false,"code":"event_not_defined","message":"` + first + `","error":"` + first + `","rejected":[` +
			`{"index":0,"messageId":"a\"b","code":"event_not_defined","message":"` + first + `"},` +
			`{"index":1,"messageId":"","code":"invalid_json","message":"` + second + `"}]}`,
	}})
}
