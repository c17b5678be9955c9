package testsend

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
)

// loopback are settings with which endpoints may be on this machine.
func loopback() config.Config {
	cfg := config.Default()
	cfg.AllowNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	return cfg
}

func newSender(t *testing.T, cfg config.Config) *Sender {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// secretive is a destination whose endpoints have every kind of secret.
func secretive(urls ...string) *workspace.Destination {
	d := &workspace.Destination{ID: "crm", Type: workspace.TypeWebhooks, Enabled: true, SharedSecret: "zqShared"}
	for _, at := range urls {
		scheme, rest, _ := strings.Cut(at, "://")
		d.Endpoints = append(d.Endpoints, workspace.Endpoint{
			URL: scheme + "://zqUser:zqPassword@" + rest + "?token=zqQuery", Headers: []workspace.Header{{Name: "X-Key", Value: "zqHeader"}},
		})
	}
	return d
}

func example(t *testing.T) []byte {
	t.Helper()
	event, err := Example(schemas.TypeTrack, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// repeating answers with a status and the request that it got.
func repeating(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Said", r.Header.Get("X-Key"))
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "%s %s %s %s\x1b[31m\n%s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Signature"), body)
	})
}

// TestVerdicts is what an answer, or the lack of one, would mean for an event.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	serve := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	selfSigned := httptest.NewUnstartedServer(repeating(200))
	selfSigned.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	selfSigned.StartTLS()
	t.Cleanup(selfSigned.Close)
	hanging := serve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	for name, test := range map[string]struct {
		url       string
		change    func(*config.Config)
		delivered bool
		verdict   string
		answered  bool
	}{
		"taken":         {url: serve(repeating(200)), delivered: true, verdict: "delivered", answered: true},
		"unavailable":   {url: serve(repeating(503)), verdict: "would be retried: endpoint answered 503; it asks to be left alone for 7s", answered: true},
		"refused":       {url: serve(repeating(400)), verdict: "would become a dead letter: endpoint answered 400", answered: true},
		"elsewhere":     {url: serve(repeating(302)), verdict: "would become a dead letter: endpoint answered 302; redirects are not followed", answered: true},
		"hanging":       {url: hanging, change: func(c *config.Config) { c.Timeout = 50 * time.Millisecond }, verdict: "would be retried: no response in time"},
		"self-signed":   {url: selfSigned.URL, verdict: "would become a dead letter: certificate is self-signed; sign it with a certificate authority, one of your own if need be"},
		"not public":    {url: "http://10.0.0.1", verdict: "refused by the guard of addresses: address of the endpoint is not public (address 10.0.0.1 is not public, or denied: WEBHOOK_SINK_ALLOW_NETWORKS opens networks that are not public)"},
		"not https":     {url: hanging, change: func(c *config.Config) { c.HTTPSOnly = true }, verdict: "would become a dead letter: endpoint is not https (WEBHOOK_SINK_HTTPS_ONLY is set)"},
		"no such thing": {url: "http://", verdict: "refused by the guard of addresses: read endpoint: expected an http or https URL with a host"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := loopback()
			if test.change != nil {
				test.change(&cfg)
			}
			d := secretive(test.url)
			r, err := newSender(t, cfg).Send(t.Context(), d, 0, example(t))
			if err != nil {
				t.Fatal(err)
			}
			one := r.Deliveries[0]
			if one.Verdict != test.verdict || one.Delivered != test.delivered || r.Delivered() != test.delivered || (len(one.Response) > 0) != test.answered || (one.Reason == "") != test.delivered {
				t.Errorf("delivery %+v, want %q, delivered %t, answered %t", one, test.verdict, test.delivered, test.answered)
			}
			show(t, r, test.verdict, "")
		})
	}
}

// show prints a report in both ways, which must have some words and no secret.
func show(t *testing.T, r *Report, words ...string) {
	t.Helper()
	var text bytes.Buffer
	if err := Print(&text, r); err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{text.String(), string(object)} {
		for _, never := range []string{"zqShared", "zqUser", "zqPassword", "zqQuery", "zqHeader", "enFVc2Vy", "\x1b"} {
			if strings.Contains(printed, never) {
				t.Errorf("printed %q: %s", never, printed)
			}
		}
	}
	for _, word := range words {
		if !strings.Contains(text.String(), word) {
			t.Errorf("printed without %q:\n%s", word, &text)
		}
	}
}

// TestATestIsADelivery: it has all that a delivery has, and what is shown of it is what was
// sent but for the secrets.
func TestATestIsADelivery(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		repeating(200).ServeHTTP(w, r)
		_, _ = io.WriteString(w, strings.Repeat("x", 5000))
	}))
	defer server.Close()
	d := secretive(server.URL + "/hooks")
	d.Enabled = false
	r, err := newSender(t, loopback()).Send(t.Context(), d, 1, example(t))
	if err != nil {
		t.Fatal(err)
	}
	user, password, _ := got.BasicAuth()
	if user != "zqUser" || password != "zqPassword" || got.URL.RawQuery != "token=zqQuery" || got.Header.Get("X-Key") != "zqHeader" ||
		got.Header.Get("User-Agent") != schemas.UserAgent || !schemas.Verify(d.SharedSecret, body, got.Header.Get("X-Signature")) {
		t.Errorf("sent %s %v", got.URL, got.Header)
	}
	if r.Body != string(body) || r.MessageID == "" || !strings.Contains(r.Body, r.MessageID) {
		t.Errorf("report %+v of %s", r, body)
	}
	show(t, r, "> POST /hooks?[redacted] HTTP/1.1\n", "> X-Key: [redacted]\n", "> X-Signature: "+got.Header.Get("X-Signature")+"\n",
		"> User-Agent: "+schemas.UserAgent+"\n", "> "+r.Body+"\n", "< HTTP/1.1 200 OK\n", "< X-Said: [redacted]\n", "< POST /hooks?[redacted] ", `\u001b[31m`, "switched off", "ms: delivered\n")
	if n := len(r.Deliveries[0].Answer); n < 900 || n > 1200 {
		t.Errorf("%d bytes of the answer are shown", n)
	}
}

// TestEndpointsAreAskedSideBySide, or one alone.
func TestEndpointsAreAskedSideBySide(t *testing.T) {
	t.Parallel()
	var asked sync.WaitGroup
	asked.Add(2)
	var once [2]sync.Once
	meeting := func(i int) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			once[i].Do(asked.Done)
			asked.Wait() // neither is answered before both were asked
		})
	}
	a, b := httptest.NewServer(meeting(0)), httptest.NewServer(meeting(1))
	defer a.Close()
	defer b.Close()
	s, d := newSender(t, loopback()), secretive(a.URL, b.URL)
	r, err := s.Send(t.Context(), d, 0, example(t))
	if err != nil || !r.Delivered() || len(r.Deliveries) != 2 {
		t.Errorf("report %+v, %v", r, err)
	}
	if r, err = s.Send(t.Context(), d, 2, example(t)); err != nil || len(r.Deliveries) != 1 || r.Deliveries[0].Endpoint != 2 || r.Deliveries[0].URL != b.URL {
		t.Errorf("report %+v, %v", r, err)
	}
}

func TestWhatCanNotBeTested(t *testing.T) {
	t.Parallel()
	s := newSender(t, loopback())
	sealed := secretive("http://127.0.0.1:1")
	sealed.SharedSecret = schemas.SealedSecret("x")
	for want, of := range map[string]struct {
		d     *workspace.Destination
		only  int
		event string
	}{
		"expected one of type webhooks, found topic": {d: &workspace.Destination{ID: "t", Type: workspace.TypeTopic}},
		"endpoint 2: expected 1 to 1":                {d: secretive("http://127.0.0.1:1"), only: 2},
		"set SECRETS_KEY":                            {d: sealed},
		"read event":                                 {d: secretive("http://127.0.0.1:1"), event: "[]"},
	} {
		event := example(t)
		if of.event != "" {
			event = []byte(of.event)
		}
		if _, err := s.Send(t.Context(), of.d, of.only, event); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "zq") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	cut, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := s.Send(cut, secretive("http://127.0.0.1:1"), 0, example(t)); err == nil || r.Deliveries[0].Delivered {
		t.Errorf("a test that was cut short is %+v, %v", r, err)
	}
}

// TestExamples: each makes a delivery as its schema says, and no two are the same event.
func TestExamples(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(repeating(200))
	defer server.Close()
	s, ids := newSender(t, loopback()), make(map[string]bool)
	for _, of := range Types() {
		for range 2 {
			event, err := Example(of, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Send(t.Context(), secretive(server.URL), 0, event)
			if err != nil || !r.Delivered() || r.MessageID == "" || ids[r.MessageID] {
				t.Fatalf("%s: %s makes %+v, %v", of, event, r, err)
			}
			ids[r.MessageID] = true
			body, err := jsonschema.UnmarshalJSON(strings.NewReader(r.Body))
			if err != nil {
				t.Fatal(err)
			}
			if err = deliveries(t, of).Validate(body); err != nil {
				t.Errorf("%s: %s: %v", of, r.Body, err)
			}
		}
	}
	if _, err := Example("shout", time.Now()); err == nil || !strings.Contains(err.Error(), "expected one of") {
		t.Errorf("an example of nothing: %v", err)
	}
}

// deliveries is the schema of the deliveries of a type.
func deliveries(t *testing.T, of schemas.Type) *jsonschema.Schema {
	t.Helper()
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.DeliverySchema(of)))
	if err != nil {
		t.Fatal(err)
	}
	all := jsonschema.NewCompiler()
	if err = all.AddResource("delivery.json", text); err != nil {
		t.Fatal(err)
	}
	schema, err := all.Compile("delivery.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
