//go:build go1.26

package analytics_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/anabranch/anabranch/analytics"
)

type requestKey struct{}

// A function before the queue enriches, redacts and drops, and never writes what is
// the caller's.
func TestBeforeEnqueue(t *testing.T) {
	client, server := dial(t, analytics.WithBeforeEnqueue(func(ctx context.Context, call analytics.Call) analytics.Call {
		if m, ok := call.(*analytics.Track); ok {
			if m.Event == "Secret" {
				return nil
			}
			m.Properties = maps.Clone(m.Properties)
			delete(m.Properties, "password")
		}
		return analytics.AddContext(call, map[string]any{"requestId": ctx.Value(requestKey{}), "app": "shop"})
	}))
	ctx := context.WithValue(t.Context(), requestKey{}, "r1")
	message := analytics.Track{UserId: "u", Event: "e", Properties: map[string]any{"password": "canary", "n": 1}, Context: map[string]any{"app": "own"}}
	for _, call := range []analytics.Call{
		message, &message,
		analytics.Track{UserId: "u", Event: "Secret"},
		&analytics.Identify{UserId: "u"}, &analytics.Page{UserId: "u"},
		&analytics.Screen{UserId: "u"},
		analytics.Group{UserId: "u", GroupId: "g"},
		&analytics.Alias{UserId: "u", PreviousId: "p"},
		analytics.Unsent{JSON: []byte(`{"type":"track","userId":"u","messageId":"m","event":"e","context":{"requestId":"r1"}}`)},
	} {
		if err := client.Enqueue(ctx, call); err != nil {
			t.Errorf("%T: %v", call, err)
		}
	}
	if len(message.Properties) != 2 || len(message.Context) != 1 {
		t.Errorf("the caller's message is %+v", message)
	}
	closed(t, client)
	got := server.messages()
	for i, m := range got {
		if m["context"].(map[string]any)["requestId"] != "r1" {
			t.Errorf("message %d: %v", i, m)
		}
	}
	if own := map[string]any{"requestId": "r1", "app": "own"}; !reflect.DeepEqual(got[0]["context"], own) || !reflect.DeepEqual(got[1]["properties"], map[string]any{"n": 1.0}) {
		t.Errorf("%v", got[0])
	}
	if s := client.Stats(); s.Filtered != 1 || s.Accepted != 8 || len(got) != 8 {
		t.Errorf("%+v", s)
	}
}

func TestAddContextOfNothing(t *testing.T) {
	if got := analytics.AddContext(nil, map[string]any{"a": 1}); got != nil {
		t.Errorf("%v", got)
	}
	call := &analytics.Track{UserId: "u"}
	if got := analytics.AddContext(call, nil); got == call || !reflect.DeepEqual(got, call) {
		t.Errorf("%v", got)
	}
}

// faulty panics, as a handler of logs and as a transport.
type faulty struct{ slog.Handler }

func (faulty) Handle(context.Context, slog.Record) error       { panic("log handler") }
func (faulty) Enabled(context.Context, slog.Level) bool        { return true }
func (faulty) RoundTrip(*http.Request) (*http.Response, error) { panic("transport") }
func (faulty) Count(string, int)                               { panic("metrics") }
func (faulty) Observe(string, float64)                         { panic("metrics") }

// Whatever panics of what the user has given, the messages arrive, and the panics are
// counted.
func TestPanics(t *testing.T) {
	for name, option := range map[string]analytics.Option{
		"callback":    analytics.WithCallback(func(analytics.Outcome) { panic("callback") }),
		"log handler": analytics.WithLogger(slog.New(faulty{})),
		"metrics":     analytics.WithMetrics(faulty{}),
	} {
		client, server := dial(t, analytics.WithFlushAt(1), option)
		for i := range 3 {
			if err := client.Track(track("u", i)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		closed(t, client)
		if s := client.Stats(); len(server.messages()) != 3 || s.Sent != 3 || s.Panics < 3 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestPanicOfATransport(t *testing.T) {
	var out lines
	client, _ := dial(t,
		analytics.WithHTTPClient(&http.Client{Transport: faulty{}}), analytics.WithFlushAt(1), analytics.WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
	if err := client.Track(track("u", 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for client.Stats().Panics < 2 {
		runtime.Gosched()
	}
	cancel()
	unsent, err := client.CloseContext(ctx)
	if len(unsent) != 1 || !errors.Is(err, analytics.ErrUnsent) || client.Stats().Panics == 0 {
		t.Errorf("%d unsent, %v, %+v", len(unsent), err, client.Stats())
	}
	if text := out.String(); !strings.Contains(text, "recovered from a panic") || !strings.Contains(text, "hooks_test.go") {
		t.Errorf("log: %s", text)
	}
}

// What was to be removed must not be sent when its removal panics.
func TestPanicBeforeEnqueue(t *testing.T) {
	client, server := dial(t, analytics.WithBeforeEnqueue(func(context.Context, analytics.Call) analytics.Call { panic("redaction") }))
	if err := client.Track(track("u", 1)); err == nil {
		t.Error("the call was taken")
	}
	closed(t, client)
	if s := client.Stats(); s.Panics != 1 || s.Accepted != 0 || len(server.messages()) != 0 {
		t.Errorf("%+v", s)
	}
}

// meter keeps counts.
type meter struct {
	mu           sync.Mutex
	counts       map[string]int
	observations map[string]int
}

func (m *meter) Count(name string, delta int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counts[name] += delta
}

func (m *meter) Observe(name string, value float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.observations[name]++; value < 0 {
		m.observations[name] = -1 << 30
	}
}

func TestMetrics(t *testing.T) {
	m := &meter{counts: map[string]int{}, observations: map[string]int{}}
	failed := false
	client, server := dial(t, analytics.WithMetrics(m), analytics.WithFlushAt(4))
	server.respond(func(w http.ResponseWriter, _ *http.Request) {
		if failed {
			_, _ = w.Write([]byte(`{"success":true,"rejected":[{"index":1}]}`))
			return
		}
		failed = true
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	for i := range 4 {
		_ = client.Track(track("u", i))
	}
	_ = client.Track(&analytics.Track{})
	closed(t, client)
	want := map[string]int{"accepted": 4, "refused": 1, "sent": 3, "rejected": 1, "retries": 1}
	if !reflect.DeepEqual(m.counts, want) || !reflect.DeepEqual(m.observations, map[string]int{"request_seconds": 2, "request_messages": 2}) {
		t.Errorf("counts %v, want %v; observations %v", m.counts, want, m.observations)
	}
}

// An outcome has its message, which may be queued again.
func TestOutcomeHasItsMessage(t *testing.T) {
	var kept []analytics.Unsent
	client, server := dial(t, analytics.WithCallback(func(o analytics.Outcome) {
		if o.Err != nil {
			kept = append(kept, o.Unsent())
		}
	}))
	server.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	_ = client.Track(track("u", 1))
	closed(t, client)
	other, taker := dial(t)
	for _, u := range kept {
		if err := other.Enqueue(t.Context(), u); err != nil {
			t.Error(err)
		}
	}
	closed(t, other)
	if got, want := taker.messages(), server.messages(); len(got) != 1 || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TryEnqueue never waits, whatever the client does when it is full; NewClient's does
// not as a rule.
func TestFullQueue(t *testing.T) {
	for name, c := range map[string]struct {
		options []analytics.Option
		call    func(*analytics.Client) error
	}{
		"try":     {[]analytics.Option{analytics.WhenFull(analytics.Block)}, func(c *analytics.Client) error { return c.TryEnqueue(t.Context(), track("u", 1)) }},
		"default": {nil, func(c *analytics.Client) error { return c.Track(track("u", 1)) }},
	} {
		client, server := dial(t, append(c.options, analytics.WithQueue(1, 1<<20), analytics.WithFlushAt(1))...)
		proceed := make(chan bool)
		server.respond(func(http.ResponseWriter, *http.Request) { <-proceed })
		if err := client.Track(track("u", 0)); err != nil {
			t.Fatal(err)
		}
		if err := c.call(client); !errors.Is(err, analytics.ErrQueueFull) {
			t.Errorf("%s: %v", name, err)
		}
		close(proceed)
		closed(t, client)
	}
}

// DEBUG=analytics is obeyed beside a logger that leaves out what it asks for.
func TestDebugBesideALogger(t *testing.T) {
	t.Setenv("DEBUG", "analytics")
	var own, standard bytes.Buffer
	server := newServer()
	defer server.Close()
	client, err := analytics.NewClient("wk", analytics.WithEndpoint(server.URL), analytics.WithLogger(slog.New(slog.NewTextHandler(&own, nil))),
		func(c *analytics.Client) error { c.Logger.SetOutput(&standard); return nil })
	if err != nil {
		t.Fatal(err)
	}
	_ = client.Track(&analytics.Track{UserId: "u"})
	closed(t, client)
	if !strings.Contains(standard.String(), "call refused error=You must pass 'event'.") || own.Len() > 0 {
		t.Errorf("own %q, standard error %q", own.String(), standard.String())
	}
}
