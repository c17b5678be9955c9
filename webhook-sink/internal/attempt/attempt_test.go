package attempt

import (
	"context"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

const (
	purchase     = `{"type":"track","messageId":"m-1","userId":"u","event":"Bought","timestamp":"2026-11-21T01:04:29.685Z","properties":{"n":1},"writeKey":"wk"}`
	purchaseBody = `{"version":1,"type":"track","userId":"u","event":"Bought","properties":{"n":1},"timestamp":"2026-11-21T01:04:29.685Z","context":{},"messageId":"m-1"}`
)

// TestWhoWasAsked: all but endpoints that can't be used, and those that are left out.
func TestWhoWasAsked(t *testing.T) {
	b := newBooth(t, map[string]receiver{"a.test": always(200), "b.test": always(200), "c.test": always(200)})
	dest := receiving("a.test", "b.test", "c.test")
	dest.Endpoints[1].URL = "://"
	if o := b.Attempt(t.Context(), dest, nil, []byte(purchase), false); o.Asked != 0b101 {
		t.Errorf("asked %b, want the first and the third", o.Asked)
	}
}

func TestAllEndpointsGetTheSameSignedBody(t *testing.T) {
	b := newBooth(t, map[string]receiver{"a.test": always(200), "b.test": always(200)})
	dest := receiving("a.test", "b.test")
	dest.SharedSecret = "s3cret"
	if diff := differs(outcome.Outcome{Verdict: outcome.Delivered}, b.Attempt(t.Context(), dest, nil, []byte(purchase), false)); diff != "" {
		t.Error(diff)
	}
	signature := signed("s3cret")
	want := []seenRequest{{"a.test", purchaseBody, signature}, {"b.test", purchaseBody, signature}}
	slices.SortFunc(b.requests, func(x, y seenRequest) int { return strings.Compare(x.host, y.host) })
	if diff := cmp.Diff(want, b.requests, cmp.AllowUnexported(seenRequest{})); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if want := []string{"crm delivered", "crm delivered"}; !slices.Equal(b.observed, want) {
		t.Errorf("observed %q, want %q", b.observed, want)
	}
}

func TestOutcomes(t *testing.T) {
	hosts := map[string]receiver{
		"ok": always(200), "gone": always(410), "moved": always(301, "Location: http://ok/"),
		"busy": always(429, "Retry-After: 30"), "broken": always(503, "Retry-After: 120"), "vague": always(500, "Retry-After: soon"),
		"mute": func() string { return "" },
	}
	tests := []struct {
		at   []string
		want outcome.Outcome
		// the endpoints to be repeated, as positions in at
		repeat   []int
		observed []string
	}{
		{at: []string{"ok"}, want: outcome.Outcome{Verdict: outcome.Delivered}, observed: []string{"crm delivered"}},
		{
			at: []string{"gone"}, want: outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus4xx, Detail: "endpoint answered 410"},
			observed: []string{"crm status_4xx"},
		},
		{
			at: []string{"vague"}, want: outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus5xx, Detail: "endpoint answered 500"},
			repeat: []int{0}, observed: []string{"crm status_5xx"},
		},
		{
			at: []string{"nowhere"}, want: outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonNetwork, Detail: "connection failed or was interrupted"},
			repeat: []int{0}, observed: []string{"crm network"},
		},
		{
			at:       []string{"gone", "broken", "ok", "moved", "mute"},
			want:     outcome.Outcome{Verdict: outcome.Delivered},
			observed: []string{"crm delivered", "crm network", "crm status_3xx", "crm status_4xx", "crm status_5xx"},
		},
		{
			at:     []string{"gone", "busy", "broken", "moved"},
			want:   outcome.Outcome{Verdict: outcome.Retry, Reason: schemas.ReasonStatus4xx, Detail: "endpoint 2 of 4: endpoint answered 429", RetryAfter: 2 * time.Minute},
			repeat: []int{1, 2}, observed: []string{"crm status_3xx", "crm status_4xx", "crm status_4xx", "crm status_5xx"},
		},
		{
			at:       []string{"moved", "gone"},
			want:     outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonStatus3xx, Detail: "endpoint 1 of 2: endpoint answered 301; redirects are not followed"},
			observed: []string{"crm status_3xx", "crm status_4xx"},
		},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.at, " "), func(t *testing.T) {
			b := newBooth(t, hosts)
			dest := receiving(test.at...)
			for _, i := range test.repeat {
				test.want.Endpoints = append(test.want.Endpoints, dest.Endpoints[i].Fingerprint())
			}
			if diff := differs(test.want, b.Attempt(t.Context(), dest, nil, []byte(purchase), false)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
			slices.Sort(b.observed)
			if !slices.Equal(b.observed, test.observed) {
				t.Errorf("observed %q, want %q", b.observed, test.observed)
			}
		})
	}
}

func TestEndpointsAreTriedSideBySideAndAllToTheirEnd(t *testing.T) {
	const never = time.Hour
	tests := []struct {
		waits []time.Duration
		want  outcome.Verdict
		took  time.Duration
	}{
		{[]time.Duration{2 * time.Second}, outcome.Delivered, 2 * time.Second},
		{[]time.Duration{2 * time.Second, 3 * time.Second, 1 * time.Second}, outcome.Delivered, 3 * time.Second},
		{[]time.Duration{0, never}, outcome.Delivered, 5 * time.Second},
		{[]time.Duration{never, never, never, never, never}, outcome.Retry, 5 * time.Second},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.waits), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hosts := make(map[string]receiver)
				for i, wait := range test.waits {
					hosts[fmt.Sprint(i, ".test")] = after(wait, always(200))
				}
				b := newBooth(t, hosts)
				var names []string
				for i := range test.waits {
					names = append(names, fmt.Sprint(i, ".test"))
				}
				began := time.Now()
				got := b.Attempt(t.Context(), receiving(names...), nil, []byte(purchase), false)
				if took := time.Since(began); got.Verdict != test.want || took != test.took {
					t.Errorf("outcome %+v after %s, want verdict %d after %s", got, took, test.want, test.took)
				}
			})
		})
	}
}

func TestRepeatsGoToTheEndpointsThatAreWorthIt(t *testing.T) {
	dest := receiving("a", "b", "c")
	of := func(hosts ...string) []uint64 {
		var prints []uint64
		for _, e := range receiving(hosts...).Endpoints {
			prints = append(prints, e.Fingerprint())
		}
		return prints
	}
	tests := []struct {
		name string
		only []uint64
		want []string
	}{
		{"all at first", nil, []string{"a", "b", "c"}},
		{"none is all", []uint64{}, []string{"a", "b", "c"}},
		{"those", of("c", "a"), []string{"a", "c"}},
		{"one was taken out of the list", of("b", "removed"), []string{"b"}},
		{"all were taken out of the list", of("removed"), []string{"a", "b", "c"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBooth(t, map[string]receiver{"a": always(200), "b": always(200), "c": always(200)})
			b.Attempt(t.Context(), dest, test.only, []byte(purchase), false)
			slices.Sort(b.dialed)
			if !slices.Equal(b.dialed, test.want) {
				t.Errorf("tried %q, want %q", b.dialed, test.want)
			}
		})
	}
}

func TestEachAttemptUsesTheDestinationAsItIsNow(t *testing.T) {
	b := newBooth(t, map[string]receiver{"a": always(200), "b": always(200)})
	first := receiving("a")
	first.SharedSecret = "old"
	edited := receiving("b")
	edited.SharedSecret = "new"
	for _, dest := range []*workspace.Destination{first, first, edited, first, edited} {
		b.Attempt(t.Context(), dest, nil, []byte(purchase), false)
	}
	older, newer := seenRequest{"a", purchaseBody, signed("old")}, seenRequest{"b", purchaseBody, signed("new")}
	if diff := cmp.Diff([]seenRequest{older, older, newer, older, newer}, b.requests, cmp.AllowUnexported(seenRequest{})); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestEventsThatCannotBeReadAreNotSent(t *testing.T) {
	b := newBooth(t, map[string]receiver{"a": always(200)})
	for _, event := range []string{"", "[]", "{", `{"type":"track"}`, strings.Replace(purchase, "track", "purchase", 1)} {
		want := outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonRecordInvalid, Detail: "event can't be read"}
		if diff := differs(want, b.Attempt(t.Context(), receiving("a"), nil, []byte(event), false)); diff != "" {
			t.Errorf("event %q:\n%s", event, diff)
		}
	}
	if len(b.dialed)+len(b.observed) > 0 {
		t.Errorf("dialed %q, observed %q", b.dialed, b.observed)
	}
}

func TestEndpointsWithoutAUsableURL(t *testing.T) {
	b := newBooth(t, map[string]receiver{"a": always(200)})
	dest := receiving("a")
	dest.Endpoints[0].URL = "canary://a"
	want := outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonAddressRefused, Detail: "URL of the endpoint can't be used"}
	if diff := differs(want, b.Attempt(t.Context(), dest, nil, []byte(purchase), false)); diff != "" {
		t.Error(diff)
	}
	if want := []string{"crm address_refused"}; !slices.Equal(b.observed, want) {
		t.Errorf("observed %q", b.observed)
	}
}

func TestShutdownAbandonsTheAttempt(t *testing.T) {
	tests := []struct {
		name     string
		stopAt   time.Duration
		hosts    map[string]receiver
		want     outcome.Outcome
		observed []string
	}{
		{"before it begins", 0, map[string]receiver{"a": always(200), "b": always(200)}, outcome.Outcome{Verdict: outcome.Abandoned}, nil},
		{
			"with an endpoint to come", time.Second,
			map[string]receiver{"a": always(410), "b": after(time.Hour, always(200))},
			outcome.Outcome{Verdict: outcome.Abandoned},
			[]string{"crm status_4xx"},
		},
		{
			"when an endpoint has it", time.Second,
			map[string]receiver{"a": always(200), "b": after(time.Hour, always(200))},
			outcome.Outcome{Verdict: outcome.Delivered},
			[]string{"crm delivered"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBooth(t, test.hosts)
				ctx, stop := context.WithCancel(t.Context())
				if test.stopAt == 0 {
					stop()
				}
				time.AfterFunc(test.stopAt, stop)
				began := time.Now()
				got := b.Attempt(ctx, receiving("a", "b"), nil, []byte(purchase), false)
				if diff := differs(test.want, got); diff != "" {
					t.Error(diff)
				}
				if took := time.Since(began); took != test.stopAt {
					t.Errorf("took %s, want %s", took, test.stopAt)
				}
				if !slices.Equal(b.observed, test.observed) {
					t.Errorf("observed %q, want %q", b.observed, test.observed)
				}
				if test.stopAt == 0 && len(b.dialed) > 0 {
					t.Errorf("dialed %q", b.dialed)
				}
			})
		})
	}
}

// onTheNetwork takes the booth's own network away.
func onTheNetwork(o *Options) { o.Dial, o.Guard = nil, guard.New(nil) }

// onTheLoopback lets it reach receivers of the test.
func onTheLoopback(o *Options) {
	o.Dial, o.Guard = nil, guard.New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
}

func TestAddressesAreGuarded(t *testing.T) {
	handled := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { handled <- struct{}{} }))
	defer server.Close()
	dest := receiving(server.Listener.Addr().String())

	got := newBooth(t, nil, onTheNetwork).Attempt(t.Context(), dest, nil, []byte(purchase), false)
	if want := (outcome.Outcome{Verdict: outcome.Dead, Reason: schemas.ReasonAddressRefused, Detail: "address of the endpoint is not public"}); differs(want, got) != "" {
		t.Error(differs(want, got))
	}
	if len(handled) > 0 {
		t.Error("a request arrived")
	}

	allowing := newBooth(t, nil, onTheLoopback)
	if got := allowing.Attempt(t.Context(), dest, nil, []byte(purchase), false); got.Verdict != outcome.Delivered || len(handled) != 1 {
		t.Errorf("allowed: %+v, %d requests", got, len(handled))
	}
}

// httptest's certificate is self-signed. Trusting it does not help.
func TestSelfSignedCertificatesAreFinal(t *testing.T) {
	handled := make(chan struct{}, 10)
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { handled <- struct{}{} }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	defer server.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	dest := receiving()
	dest.Endpoints = []workspace.Endpoint{{URL: server.URL}}
	for _, file := range []string{"", roots} {
		b := newBooth(t, nil, onTheLoopback, func(o *Options) { o.ExtraCA = file })
		got := b.Attempt(t.Context(), dest, nil, []byte(purchase), false)
		if got.Verdict != outcome.Dead || got.Reason != schemas.ReasonSelfSigned || !strings.Contains(got.Detail, "sign it with a certificate authority") {
			t.Errorf("extra roots %q: %+v", file, got)
		}
	}
	if len(handled) > 0 {
		t.Error("a request arrived")
	}
}

func TestRootsThatCannotBeRead(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{empty, filepath.Join(t.TempDir(), "absent.pem"), t.TempDir()} {
		_, err := New(Options{Timeout: time.Second, ExtraCA: file})
		if err == nil || !strings.HasPrefix(err.Error(), "WEBHOOK_SINK_EXTRA_CA_FILE="+file+": expected a file of PEM certificates: ") {
			t.Errorf("error %v", err)
		}
	}
}

// TestNothingIsSentWithoutItsSecrets, not even a last attempt: an event waits until the
// sink has the key, and is then delivered as it should be.
func TestNothingIsSentWithoutItsSecrets(t *testing.T) {
	for name, seal := range map[string]func(*workspace.Destination){
		"the shared secret": func(d *workspace.Destination) { d.SharedSecret = schemas.SealedSecret("x") },
		"a header": func(d *workspace.Destination) {
			d.Endpoints[1].Headers = []workspace.Header{{Name: "X-Token", Value: schemas.SealedSecret("x")}}
		},
	} {
		b := newBooth(t, map[string]receiver{"a.test": always(200), "b.test": always(200)})
		dest := receiving("a.test", "b.test")
		seal(dest)
		for _, last := range []bool{false, true} {
			o := b.Attempt(t.Context(), dest, nil, []byte(purchase), last)
			if o.Verdict != outcome.Withheld || o.Reason != schemas.ReasonSecretsLocked || !o.Until.After(time.Now()) || o.Partial {
				t.Errorf("%s, last %t: %+v, want it withheld", name, last, o)
			}
		}
		if len(b.dialed) != 0 || !slices.Equal(b.observed, []string{"crm left out", "crm left out"}) {
			t.Errorf("%s: dialed %v, observed %v", name, b.dialed, b.observed)
		}
		opened := receiving("a.test", "b.test")
		opened.SharedSecret = "s3cret"
		if o := b.Attempt(t.Context(), opened, nil, []byte(purchase), false); o.Verdict != outcome.Delivered || b.requests[0].signature != signed("s3cret") {
			t.Errorf("%s: with the key %+v", name, o)
		}
	}
}
