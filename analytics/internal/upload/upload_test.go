//go:build go1.26

package upload

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/queue"
	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

// transport answers a request in memory.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, body string, header http.Header) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func uploader(t transport) *Uploader {
	return &Uploader{
		URL: "http://user:pass@collect.example.com/v1/batch?token=canary", WriteKey: "wk", UserAgent: "ua", Context: []byte(`{"a":1}`),
		Client: &http.Client{Transport: t}, Timeout: time.Second,
	}
}

func messages(texts ...string) []*queue.Message {
	var list []*queue.Message
	for _, text := range texts {
		list = append(list, &queue.Message{JSON: []byte(text)})
	}
	return list
}

func TestRequest(t *testing.T) {
	var got *http.Request
	var body []byte
	u := uploader(func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return reply(200, `{"success":true}`, nil)(r)
	})
	id := NewID()
	if a := u.Post(t.Context(), id, messages(`{"n":1}`, `{"n":2}`)); a.Verdict != Taken || a.Err != nil || a.Rejected != nil {
		t.Errorf("answer %+v", a)
	}
	key, password, _ := got.BasicAuth()
	if got.Method != http.MethodPost || key != "wk" || password != "" || got.ContentLength != int64(len(body)) ||
		got.Header.Get("Content-Type") != "application/json" || got.Header.Get("User-Agent") != "ua" {
		t.Errorf("%s %v", got.Method, got.Header)
	}
	shape := `^\{"context":\{"a":1\},"batch":\[\{"n":1\},\{"n":2\}\],"messageId":"` + id + `","sentAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"\}$`
	if !regexp.MustCompile(shape).Match(body) {
		t.Errorf("body %s", body)
	}
}

// TestFrame holds the size that batches are cut by against what is written.
func TestFrame(t *testing.T) {
	context := []byte(`{"library":{"name":"x"}}`)
	for _, list := range [][]*queue.Message{messages(`{}`), messages(`{"n":1}`, `{"n":22}`, `{"n":333}`)} {
		size := Frame(context) - 1 // no comma follows the last
		for _, m := range list {
			size += len(m.JSON) + 1
		}
		body, _ := render(newFrame(context, NewID(), time.Now()), list, true)
		if len(body) != size || cap(body) != size {
			t.Errorf("%d messages: %d bytes of %d, want %d", len(list), len(body), cap(body), size)
		}
	}
}

// sentAt is the time of the attempt, so that the server can tell how wrong the
// client's clock is however often a batch is sent.
func TestSentAtIsTheAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		u := uploader(func(r *http.Request) (*http.Response, error) {
			var body struct {
				SentAt string `json:"sentAt"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			sent = append(sent, body.SentAt)
			return reply(503, "", nil)(r)
		})
		u.Post(t.Context(), NewID(), messages(`{}`))
		virtual.Sleep(90 * time.Second)
		u.Post(t.Context(), NewID(), messages(`{}`))
		if got, want := sent, []string{"2000-01-01T00:00:00.000Z", "2000-01-01T00:01:30.000Z"}; !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	})
}

func TestNewID(t *testing.T) {
	shape := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		if !shape.MatchString(id) || seen[id] || len(id) != idSize {
			t.Fatalf("%q", id)
		}
		seen[id] = true
	}
}

func TestVerdicts(t *testing.T) {
	for status, want := range map[int]Verdict{
		200: Taken, 201: Taken, 202: Taken, 204: Taken, 299: Taken,
		300: Refused, 301: Refused, 302: Refused, 304: Refused, 307: Refused, 308: Refused,
		400: Refused, 401: Refused, 403: Refused, 404: Refused, 407: Refused, 409: Refused, 410: Refused, 413: Refused, 422: Refused, 499: Refused,
		408: Again, 425: Again, 429: Again, 500: Again, 501: Again, 502: Again, 503: Again, 504: Again, 520: Again, 599: Again,
	} {
		if got := uploader(reply(status, "", nil)).Post(t.Context(), "", messages(`{}`)); got.Verdict != want || (got.Err == nil) != (want == Taken) {
			t.Errorf("status %d: %+v, want verdict %d", status, got, want)
		}
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for name, c := range map[string]struct {
		status int
		body   string
		header http.Header
		want   string
		after  time.Duration
	}{
		"the service's own":   {401, `{"success":false,"code":"invalid_write_key","message":"unknown or disabled","error":"…"}`, nil, "status 401 invalid_write_key: unknown or disabled", 0},
		"a proxy's":           {502, `<html>Bad gateway</html>`, nil, "status 502", 0},
		"none":                {400, ``, nil, "status 400", 0},
		"a list":              {400, `[1]`, nil, "status 400", 0},
		"members of any type": {400, `{"code":7,"message":{}}`, nil, "status 400", 0},
		"a long one":          {400, `{"message":"` + long + `"}`, nil, "status 400: " + long[:maxQuote] + "…", 0},
		"with a pause":        {429, `{"code":"slow_down"}`, http.Header{"Retry-After": {"7"}}, "status 429 slow_down", 7 * time.Second},
	} {
		a := uploader(reply(c.status, c.body, c.header)).Post(t.Context(), "", messages(`{}`))
		if a.Err == nil || a.Err.Error() != c.want || a.After != c.after {
			t.Errorf("%s: %v after %v, want %s after %v", name, a.Err, a.After, c.want, c.after)
		}
	}
}

func TestRejected(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want map[int]*Refusal
	}{
		"nothing":       {`{"success":true}`, nil},
		"an empty list": {`{"success":true,"rejected":[]}`, nil},
		"no JSON":       {`ok`, nil},
		"cut":           {`{"success":true,"rejected":[{"index":1`, nil},
		"some": {
			`{"success":true,"rejected":[{"index":1,"messageId":"m","code":"too_large","message":"is long"},{"index":0,"code":"c"},{"code":"without index"}]}`,
			map[int]*Refusal{1: {200, "too_large", "is long"}, 0: {200, "c", ""}},
		},
	} {
		a := uploader(reply(200, c.body, nil)).Post(t.Context(), "", messages(`{}`))
		if got, want := a.Rejected, c.want; !reflect.DeepEqual(got, want) || a.Verdict != Taken {
			t.Errorf("%s: verdict %d: got %v, want %v", name, a.Verdict, got, want)
		}
	}
}

// A batch without a good message is refused as a whole, with the same list.
func TestAllRejected(t *testing.T) {
	const body = `{"success":false,"code":"a","rejected":[{"index":0,"code":"a"},{"index":1,"code":"b"}]}`
	a := uploader(reply(400, body, nil)).Post(t.Context(), "", messages(`{}`, `{}`))
	want := map[int]*Refusal{0: {400, "a", ""}, 1: {400, "b", ""}}
	if a.Verdict != Refused || a.Err == nil || !reflect.DeepEqual(a.Rejected, want) {
		t.Errorf("%+v, want %v", a, want)
	}
}

// Errors of the transport name neither the URL nor what is in it.
func TestTransportErrors(t *testing.T) {
	cause := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	a := uploader(func(*http.Request) (*http.Response, error) { return nil, cause }).Post(t.Context(), "", messages(`{}`))
	if a.Verdict != Again || !errors.Is(a.Err, cause) || strings.Contains(a.Err.Error(), "example.com") || strings.Contains(a.Err.Error(), "canary") {
		t.Errorf("%+v", a)
	}
}

// An attempt ends at its timeout when the server stalls before its answer, and when
// it stalls within.
func TestStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		hang := transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		if a := uploader(hang).Post(t.Context(), "", messages(`{}`)); a.Verdict != Again || !errors.Is(a.Err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%+v after %v", a, time.Since(start))
		}
		half := transport(func(r *http.Request) (*http.Response, error) {
			reader, writer := io.Pipe()
			context.AfterFunc(r.Context(), func() { writer.CloseWithError(r.Context().Err()) })
			return &http.Response{StatusCode: http.StatusOK, Body: reader, Request: r}, nil
		})
		if a := uploader(half).Post(t.Context(), "", messages(`{}`)); a.Verdict != Taken || time.Since(start) != 2*time.Second {
			t.Errorf("%+v after %v: the status had said that it was taken", a, time.Since(start))
		}
		synctest.Wait()
	})
}

// A client that follows redirects, as a user's may, turns a POST into a GET; its 200 is
// no success.
func TestRedirectFollowed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	defer server.Close()
	u := &Uploader{URL: server.URL, Context: []byte(`{}`), Client: server.Client(), Timeout: time.Minute}
	if a := u.Post(t.Context(), "", messages(`{}`)); a.Verdict != Refused {
		t.Errorf("%+v", a)
	}
}

// endless is a body without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
func (endless) Close() error               { return nil }

func TestEndlessAnswer(t *testing.T) {
	a := uploader(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Body: endless{}, Request: r}, nil
	}).Post(t.Context(), "", messages(`{}`))
	if a.Verdict != Again || a.Err.Error() != "status 503" {
		t.Errorf("%+v", a)
	}
}

func TestBadURL(t *testing.T) {
	u := uploader(reply(200, "", nil))
	u.URL = "http://exa mple"
	if a := u.Post(t.Context(), "", messages(`{}`)); a.Verdict == Taken || a.Err == nil {
		t.Errorf("%+v", a)
	}
}

// TestCompression shows that a body of a certain size is compressed, until a server
// says that it can't read that: it has it plain at once, and from then on.
func TestCompression(t *testing.T) {
	var bodies, codings []string
	reads := true
	u := uploader(func(r *http.Request) (*http.Response, error) {
		coding := r.Header.Get("Content-Encoding")
		codings = append(codings, coding)
		var body io.Reader = r.Body
		if coding == "gzip" {
			if !reads {
				return reply(http.StatusUnsupportedMediaType, "", nil)(r)
			}
			var err error
			if body, err = gzip.NewReader(r.Body); err != nil {
				return nil, err
			}
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, string(text))
		return reply(200, `{"success":true}`, nil)(r)
	})
	u.Compress = true
	large := messages(`{"x":"` + strings.Repeat("x", 2000) + `"}`)
	for _, list := range [][]*queue.Message{messages(`{}`), large, large} {
		if a := u.Post(t.Context(), "", list); a.Verdict != Taken {
			t.Errorf("%+v", a)
		}
		reads = len(bodies) < 2
	}
	u.Post(t.Context(), "", large)
	if want := []string{"", "gzip", "gzip", "", ""}; !reflect.DeepEqual(codings, want) {
		t.Errorf("codings %q, want %q", codings, want)
	}
	for _, body := range bodies[1:] {
		if !json.Valid([]byte(body)) || !strings.Contains(body, string(large[0].JSON)) {
			t.Errorf("body %.60s", body)
		}
	}
}

// What took too long is told from what never began.
func TestTimedOut(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"no answer":     {context.DeadlineExceeded, true},
		"reading":       {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, true},
		"no connection": {&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, false},
		"refused":       {errors.New("connection refused"), false},
		"cut":           {context.Canceled, false},
	} {
		u := uploader(func(*http.Request) (*http.Response, error) { return nil, c.err })
		if a := u.Post(t.Context(), "", messages(`{}`)); a.Verdict != Again || a.TimedOut != c.want {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// FuzzRejected shows that no answer panics, and that whatever is read of one is
// bounded.
func FuzzRejected(f *testing.F) {
	f.Add(200, `{"success":true,"rejected":[{"index":1,"code":"too_large"}]}`)
	f.Add(503, `{"code":"unavailable","message":"…"}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		status = 200 + (status%400+400)%400
		a := uploader(reply(status, body, nil)).Post(t.Context(), "", messages(`{}`))
		if a.Err != nil && len(a.Err.Error()) > 2*(maxQuote+20) {
			t.Errorf("an error of %d bytes", len(a.Err.Error()))
		}
		if (a.Verdict == Taken) != (status < 300) {
			t.Errorf("status %d: %+v", status, a)
		}
	})
}
