package front_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/anabranch/anabranch/test/sdktest/front"
)

// start returns a front before a server that answers 200, and the number of
// requests which that server has seen.
func start(tb testing.TB, handle http.HandlerFunc, faults ...front.Fault) (*front.Front, *atomic.Int64) {
	tb.Helper()
	var seen atomic.Int64
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		if handle != nil {
			handle(w, r)
		}
	}))
	tb.Cleanup(behind.Close)
	f, err := front.Start(behind.URL, faults)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := f.Close(); err != nil {
			tb.Error(err)
		}
	})
	return f, &seen
}

// answer is what a client got.
type answer struct {
	status int // 0 when the connection was cut
	header http.Header
}

// send sends a request as a page would. The connection is not used again, so that
// a cut one does not count against a later request.
func send(tb testing.TB, method, url, body string) answer {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Origin", "http://shop.example")
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return answer{}
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return answer{}
	}
	return answer{resp.StatusCode, resp.Header}
}

func TestFaultsMeetTheFirstRequestsInTheirOrder(t *testing.T) {
	f, seen := start(t, nil, front.Unavailable, front.TooManyRequests, front.Cut)
	for _, status := range []int{503, 429, 0, 200, 200} {
		if got := send(t, http.MethodPost, f.URL+"/v1/batch", "{}"); got.status != status {
			t.Errorf("answered %d, expected %d", got.status, status)
		}
	}
	if n := seen.Load(); n != 2 {
		t.Errorf("the product saw %d requests, expected the 2 that met no fault", n)
	}
	var injected, met []string
	for _, fault := range f.Injected() {
		injected = append(injected, fault.String())
	}
	for _, r := range f.Requests() {
		met = append(met, r.Fault)
	}
	if diff := cmp.Diff([]string{"503", "429", "cut"}, injected); diff != "" || f.Left() != 0 {
		t.Errorf("%d left, injected (-want +got):\n%s", f.Left(), diff)
	}
	if diff := cmp.Diff([]string{"503", "429", "cut", "", ""}, met); diff != "" {
		t.Errorf("faults of the requests (-want +got):\n%s", diff)
	}
}

// A page sees the status of an answer from another origin, and its Retry-After,
// only with the headers of CORS.
func TestAPageCanReadTheFaults(t *testing.T) {
	f, _ := start(t, nil, front.Unavailable)
	got := send(t, http.MethodPost, f.URL+"/v1/t", "{}")
	for name, want := range map[string]string{
		"Retry-After": "1", "Access-Control-Allow-Origin": "http://shop.example", "Access-Control-Expose-Headers": "Retry-After",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q, expected %q", name, got.header.Get(name), want)
		}
	}
}

func TestFaultsWaitForARequestThatCarriesCalls(t *testing.T) {
	f, _ := start(t, nil, front.Unavailable)
	for _, r := range []struct{ method, path string }{
		{http.MethodOptions, "/v1/t"}, {http.MethodGet, "/v1/t"}, {http.MethodPost, "/v1/m"}, {http.MethodPost, "/v1/m/"},
	} {
		if got := send(t, r.method, f.URL+r.path, ""); got.status != http.StatusOK {
			t.Errorf("%s %s: %d", r.method, r.path, got.status)
		}
	}
	if f.Left() != 1 {
		t.Error("a request without calls took the fault")
	}
}

func TestRequestsPassAsTheyCame(t *testing.T) {
	const uri = "/v1/t/?a=b%2Fc"
	body := string([]byte{0x1f, 0x8b, 0, 0xff}) + "no gzip"
	f, seen := start(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != body || r.URL.RequestURI() != uri || r.ContentLength != int64(len(body)) {
			t.Errorf("the product saw %s with %q, %v", r.URL.RequestURI(), got, err)
		}
		// What a browser or an SDK would send, and nothing that a proxy adds.
		want := http.Header{"Origin": {"http://shop.example"}, "Content-Length": {strconv.Itoa(len(body))}}
		ignore := cmpopts.IgnoreMapEntries(func(name string, _ []string) bool { return name == "User-Agent" || name == "Accept-Encoding" })
		if diff := cmp.Diff(want, r.Header, ignore); diff != "" {
			t.Errorf("headers that the product saw (-want +got):\n%s", diff)
		}
		w.Header().Set("X-Answer", "kept")
		w.WriteHeader(http.StatusTeapot)
	})
	if got := send(t, http.MethodPost, f.URL+uri, body); got.status != http.StatusTeapot || got.header.Get("X-Answer") != "kept" || seen.Load() != 1 {
		t.Errorf("answered %+v", got)
	}
	want := front.Request{Method: http.MethodPost, Path: "/v1/t/", Query: "a=b%2Fc", Body: []byte(body), Status: http.StatusTeapot}
	if diff := cmp.Diff([]front.Request{want}, f.Requests(), cmpopts.IgnoreFields(front.Request{}, "Header")); diff != "" {
		t.Errorf("noted (-want +got):\n%s", diff)
	}
}

func TestText(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, `{"batch":[]}`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		body   []byte
		gzip   bool
		text   string
		broken bool
	}{
		"plain":      {body: []byte(`{}`), text: `{}`},
		"compressed": {body: zipped.Bytes(), gzip: true, text: `{"batch":[]}`},
		"torn":       {body: zipped.Bytes()[:zipped.Len()-9], gzip: true, broken: true},
		"no header":  {body: zipped.Bytes()[:4], gzip: true, broken: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := front.Request{Body: c.body}
			text, err := r.Text()
			if r.Gzipped() != c.gzip || (err != nil) != c.broken || string(text) != c.text {
				t.Errorf("gzipped %t, text %q, %v", r.Gzipped(), text, err)
			}
		})
	}
}
