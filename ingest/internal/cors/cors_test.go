package cors

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// request returns a request with pairs of header names and values.
func request(method string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/v1/t", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestAllow(t *testing.T) {
	for origin, want := range map[string]http.Header{
		"": {},
		"https://shop.example.com": {
			"Access-Control-Allow-Origin":      {"https://shop.example.com"},
			"Access-Control-Allow-Credentials": {"true"},
			"Access-Control-Expose-Headers":    {"Retry-After"},
			"Vary":                             {"Origin"},
		},
		"null": { // a page from a file, or in a sandbox
			"Access-Control-Allow-Origin":      {"null"},
			"Access-Control-Allow-Credentials": {"true"},
			"Access-Control-Expose-Headers":    {"Retry-After"},
			"Vary":                             {"Origin"},
		},
	} {
		r := request(http.MethodPost)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		got := make(http.Header)
		Allow(got, r)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("origin %q (-want +got):\n%s", origin, diff)
		}
		if FromBrowser(r) != (origin != "") {
			t.Errorf("origin %q: FromBrowser is %v", origin, FromBrowser(r))
		}
	}
}

func TestPreflight(t *testing.T) {
	always := http.Header{
		"Access-Control-Allow-Methods": {"POST"},
		"Access-Control-Max-Age":       {"86400"},
		"Allow":                        {"OPTIONS, POST"},
		"Vary":                         {"Origin, Access-Control-Request-Method, Access-Control-Request-Headers"},
	}
	page := http.Header{
		"Access-Control-Allow-Origin":      {"https://a.example"},
		"Access-Control-Allow-Credentials": {"true"},
		"Access-Control-Expose-Headers":    {"Retry-After"},
	}
	for name, c := range map[string]struct {
		request *http.Request
		own     []http.Header
	}{
		"no browser": {request(http.MethodOptions), []http.Header{{"Access-Control-Allow-Origin": {"*"}}}},
		"a page":     {request(http.MethodOptions, "Origin", "https://a.example", "Access-Control-Request-Method", "POST"), []http.Header{page}},
		"with headers": {
			request(http.MethodOptions, "Origin", "https://a.example", "Access-Control-Request-Headers", "anonymousid,authorization,x-made-up"),
			[]http.Header{page, {"Access-Control-Allow-Headers": {"anonymousid,authorization,x-made-up"}}},
		},
		"headers in two lines": {
			request(http.MethodOptions, "Origin", "https://a.example", "Access-Control-Request-Headers", "a", "Access-Control-Request-Headers", "b"),
			[]http.Header{page, {"Access-Control-Allow-Headers": {"a", "b"}}},
		},
		"into a private network": {
			request(http.MethodOptions, "Origin", "https://a.example", "Access-Control-Request-Private-Network", "true"),
			[]http.Header{page, {"Access-Control-Allow-Private-Network": {"true"}}},
		},
		"not into a private network": {
			request(http.MethodOptions, "Origin", "https://a.example", "Access-Control-Request-Private-Network", "false"),
			[]http.Header{page},
		},
	} {
		want := maps.Clone(always)
		for _, own := range c.own {
			maps.Copy(want, own)
		}
		w := httptest.NewRecorder()
		Preflight(w, c.request)
		if diff := cmp.Diff(want, w.Header()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if w.Code != http.StatusNoContent || w.Body.Len() != 0 {
			t.Errorf("%s: got %d %q", name, w.Code, w.Body)
		}
	}
}

// TestAnswersDoNotShareWhatIsAdded adds to the header of one answer and looks at
// another one.
func TestAnswersDoNotShareWhatIsAdded(t *testing.T) {
	first, second := make(http.Header), make(http.Header)
	r := request(http.MethodPost, "Origin", "https://a.example")
	Allow(first, r)
	for name := range first {
		first.Add(name, "more")
	}
	Allow(second, r)
	for name, values := range second {
		if len(values) != 1 {
			t.Errorf("%s is %q", name, values)
		}
	}
	if got := r.Header.Values("Origin"); len(got) != 1 {
		t.Errorf("the request's Origin is %q", got)
	}
}

func BenchmarkAllow(b *testing.B) {
	r, answer := request(http.MethodPost, "Origin", "https://a.example"), make(http.Header)
	b.ReportAllocs()
	for b.Loop() {
		clear(answer)
		Allow(answer, r)
	}
}
