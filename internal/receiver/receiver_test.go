package receiver

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sign(secret, body string) string { return schemas.Sign(schemas.Secret(secret), []byte(body)) }

// send hands one request to the receiver; an empty signature is no header.
func send(h http.Handler, method string, body io.Reader, signature string) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, "/", body)
	if signature != "" {
		req.Header.Set(schemas.SignatureHeader, signature)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

const (
	track = `{"version":1,"type":"track","userId":"u1","event":"Signed Up","properties":{"plan":"pro"},` +
		`"context":{"ip":"127.0.0.1","library":{"name":"analytics.js","version":"2.11.1"},"page":{"path":"/academy/","referrer":"","title":"Analytics Academy"}},` +
		`"timestamp":"2026-11-21T01:08:14.000Z","messageId":"m-1"}`
	alias   = `{"version":1,"type":"alias","Previous ID":"anonymous 17","User ID":"u1","context":{},"timestamp":"2026-11-21T01:08:14.000Z","messageId":"m-2"}`
	group   = `{"version":1,"type":"group","groupId":"acme","userId":"u1","traits":{"employee count":42},"context":{},"timestamp":"2026-11-21T01:08:14.000Z"}`
	page    = `{"version":1,"type":"page","anonymousId":"a-1","name":"Home","properties":{"list":[1,2,3],"deep":{"a":{"b":[{"c":"` + "012345678901234567890123456789" + `"},{"d":"` + "012345678901234567890123456789" + `"}]}}}}`
	hostile = "{\"type\":\"track\",\"userId\":\"\\u001b[2Ju1\",\"event\":\"\u009b31m\u202egnp\",\"properties\":{\"bell\":\"\\u0007\",\"raw\":\"\u009b2J\U000e0041\"}}"
)

// TestPrintedDeliveries holds what a person sees against testdata; run it with
// -update to write that anew.
func TestPrintedDeliveries(t *testing.T) {
	const secret = "s3cret"
	for name, c := range map[string]struct {
		body, signature string
		secret          schemas.Secret
		color           bool
	}{
		"track":       {track, sign(secret, track), secret, false},
		"track-color": {track, sign(secret, track), secret, true},
		"alias":       {body: alias},
		"group":       {group, sign("other", group), "", false},
		"page":        {page, sign("other", page), secret, true},
		"unsigned":    {body: `{"type":"delete","userId":"u1"}`, secret: secret},
		"hostile":     {body: hostile, color: true},
		"no-json":     {body: "<html>\x1b[2J\xff" + strings.Repeat("x", 3000)},
		"no-object":   {body: `["a",{"type":1}]`},
		"odd-types":   {body: `{"type":7,"userId":{"a":1},"event":"Kept"}`},
		"empty":       {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // its clock begins at 2000-01-01
				var out bytes.Buffer
				send(New(&out, c.secret, c.color), http.MethodPost, strings.NewReader(c.body), c.signature)
				testkit.Golden(t, filepath.Join("testdata", name+".txt"), out.Bytes(), *update)
			})
		})
	}
}

func TestTheTimeIsUTC(t *testing.T) {
	at := time.Date(2026, 11, 21, 4, 8, 14, 123_456_789, time.FixedZone("", 3*60*60))
	got := (&delivery{at: at, body: []byte("{}")}).append(nil, false)
	if want := "01:08:14.123Z  "; !strings.HasPrefix(string(got), want) {
		t.Errorf("printed %q, want it to begin with %q", got, want)
	}
}

func TestAnswers(t *testing.T) {
	const body, secret = `{"type":"track"}`, "s3cret"
	for name, c := range map[string]struct {
		method    string
		body      io.Reader
		signature string
		secret    schemas.Secret
		status    int
		problem   string
	}{
		"signed":             {http.MethodPost, strings.NewReader(body), sign(secret, body), secret, 200, ""},
		"no secret":          {http.MethodPost, strings.NewReader(body), "", "", 200, ""},
		"unchecked":          {http.MethodPost, strings.NewReader(body), "anything", "", 200, ""},
		"not JSON":           {http.MethodPost, strings.NewReader("hello"), "", "", 200, ""},
		"wrong secret":       {http.MethodPost, strings.NewReader(body), sign("other", body), secret, 401, "X-Signature is not the signature of this body under this secret"},
		"of another body":    {http.MethodPost, strings.NewReader(body + " "), sign(secret, body), secret, 401, "X-Signature is not the signature of this body under this secret"},
		"upper case":         {http.MethodPost, strings.NewReader(body), strings.ToUpper(sign(secret, body)), secret, 401, "X-Signature is not the signature of this body under this secret"},
		"missing":            {http.MethodPost, strings.NewReader(body), "", secret, 401, "there is no X-Signature header"},
		"a GET":              {http.MethodGet, nil, "", "", 405, "a delivery is a POST"},
		"exactly 1 MiB":      {http.MethodPost, strings.NewReader(strings.Repeat(" ", maxBody)), "", "", 200, ""},
		"more":               {http.MethodPost, strings.NewReader(strings.Repeat(" ", maxBody+1)), "", "", 413, "the body is larger than 1 MiB"},
		"cut in its body":    {http.MethodPost, iotest.ErrReader(io.ErrUnexpectedEOF), "", "", 400, "the body did not arrive whole"},
		"cut after its body": {http.MethodPost, io.MultiReader(strings.NewReader(body), iotest.ErrReader(io.ErrUnexpectedEOF)), sign(secret, body), secret, 400, "the body did not arrive whole"},
	} {
		t.Run(name, func(t *testing.T) {
			w := send(New(io.Discard, c.secret, false), c.method, c.body, c.signature)
			var got struct {
				Success bool   `json:"success"`
				Error   string `json:"error"`
			}
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatalf("the answer %q is no JSON: %v", w.Body, err)
			}
			if w.Code != c.status || got.Error != c.problem || got.Success != (c.status == 200) {
				t.Errorf("answered %d %+v, want %d %q", w.Code, got, c.status, c.problem)
			}
			if allow := w.Header().Get("Allow"); (w.Code == 405) != (allow == "POST") {
				t.Errorf("Allow is %q with status %d", allow, w.Code)
			}
		})
	}
}

func TestOnlyDeliveriesArePrinted(t *testing.T) {
	var out bytes.Buffer
	h := New(&out, "", false)
	send(h, http.MethodGet, nil, "")
	send(h, http.MethodPost, strings.NewReader(strings.Repeat(" ", maxBody+1)), "")
	if out.Len() != 0 {
		t.Errorf("printed %q", out.String())
	}
}

func TestWhatCannotBePrintedIsNotAcknowledged(t *testing.T) {
	closed := writerFunc(func([]byte) (int, error) { return 0, errors.New("closed") })
	if w := send(New(closed, "", false), http.MethodPost, strings.NewReader("{}"), ""); w.Code != http.StatusInternalServerError {
		t.Errorf("answered %d, want 500", w.Code)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestEachDeliveryIsOneWrite needs the race detector to show that writes do not
// overlap: the writer takes no lock of its own.
func TestEachDeliveryIsOneWrite(t *testing.T) {
	var writes []string
	h := New(writerFunc(func(p []byte) (int, error) {
		writes = append(writes, string(p))
		return len(p), nil
	}), "", false)
	const n = 50
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			send(h, http.MethodPost, strings.NewReader(fmt.Sprintf(`{"type":"track","userId":"u%d"}`, i)), "")
		})
	}
	all.Wait()
	if len(writes) != n {
		t.Fatalf("%d deliveries made %d writes", n, len(writes))
	}
	for _, text := range writes {
		if strings.Count(text, "signature") != 1 || !strings.HasSuffix(text, "}\n\n") {
			t.Errorf("a write is not one delivery: %q", text)
		}
	}
}
