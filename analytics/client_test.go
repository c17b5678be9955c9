//go:build go1.26

package analytics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log" //nolint:depguard // the field Logger of version 2
	"log/slog"
	"net/http"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics"
)

// dial returns a client of a new server, quiet, with further options.
func dial(t *testing.T, options ...analytics.Option) (*analytics.Client, *server) {
	t.Helper()
	server := newServer()
	t.Cleanup(server.Close)
	options = append([]analytics.Option{analytics.WithEndpoint(server.URL), analytics.WithLogger(slog.New(slog.DiscardHandler))}, options...)
	client, err := analytics.NewClient("wk", options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client, server
}

func closed(t *testing.T, client *analytics.Client) {
	t.Helper()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
}

// track is a valid message of a user.
func track(user string, n int) *analytics.Track {
	return &analytics.Track{UserId: user, Event: "Clicked", Properties: map[string]any{"n": n}}
}

func TestHeaders(t *testing.T) {
	client, server := dial(t)
	_ = client.Track(track("u", 1))
	closed(t, client)
	got := server.got()[0]
	want := map[string]string{
		"Authorization": "Basic d2s6", "Content-Type": "application/json", "User-Agent": "analytics-go (version: " + analytics.Version + ")",
	}
	for name, value := range want {
		if got.header.Get(name) != value {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), value)
		}
	}
	if got.path != "/v1/batch" {
		t.Errorf("path %q", got.path)
	}
}

func TestEndpoints(t *testing.T) {
	for suffix, want := range map[string]string{
		"": "/v1/batch", "/": "/v1/batch", "/base": "/base/v1/batch", "/base/": "/base/v1/batch",
		"/v1/batch": "/v1/batch", "/v1/batch/": "/v1/batch/", "/v1/import": "/v1/import", "/any/batch": "/any/batch",
		"/v1/batches": "/v1/batches/v1/batch", "/v1/batch?x=1": "/v1/batch",
	} {
		server := newServer()
		client := analytics.New("wk")
		client.Endpoint = server.URL + suffix
		_ = client.Track(track("u", 1))
		closed(t, client)
		if got := server.got()[0].path; got != want {
			t.Errorf("%s: %s, want %s", suffix, got, want)
		}
		server.Close()
	}
	for _, bad := range []string{"", "collect.example.com", "ftp://example.com", "http://", "://", "http://exa mple"} {
		client := analytics.New("wk")
		client.Endpoint = bad
		err := client.Track(track("u", 1))
		if e, ok := errors.AsType[*analytics.OptionError](err); !ok || e.Name != "Endpoint" {
			t.Errorf("%q: %v", bad, err)
		}
		if err := errors.Join(client.Close(), client.Close()); err != nil {
			t.Errorf("%q: close: %v", bad, err)
		}
		if client.Flush(t.Context()) == nil || client.Stats() != (analytics.Stats{}) {
			t.Errorf("%q: a client that can't start has flushed", bad)
		}
	}
}

func TestZeroClient(t *testing.T) {
	var client analytics.Client
	if err := client.Track(track("u", 1)); err == nil {
		t.Error("a client without a key has taken a message")
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
}

func TestOptionErrors(t *testing.T) {
	for name, option := range map[string]analytics.Option{
		"Endpoint":            analytics.WithEndpoint("nowhere"),
		"WithFlushAt":         analytics.WithFlushAt(2501),
		"WithFlushAfter":      analytics.WithFlushAfter(0),
		"WithHTTPClient":      analytics.WithHTTPClient(nil),
		"WithQueue(messages)": analytics.WithQueue(0, 1<<20),
		"WithQueue(bytes)":    analytics.WithQueue(1, 32_767),
		"WhenFull":            analytics.WhenFull(3),
		"WithMaxInFlight":     analytics.WithMaxInFlight(0),
		"WithRequestTimeout":  analytics.WithRequestTimeout(-1),
		"WithMaxAge":          analytics.WithMaxAge(0),
		"WithCloseTimeout":    analytics.WithCloseTimeout(0),
	} {
		client, err := analytics.NewClient("wk", option)
		if e, ok := errors.AsType[*analytics.OptionError](err); !ok || e.Name != name || client != nil || !strings.Contains(err.Error(), ", want ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := analytics.NewClient("wk", analytics.WithFlushAt(5), nil); err == nil || err.Error() != "analytics: option 2 is <nil>, want an option" {
		t.Errorf("a nil option: %v", err)
	}
	if _, err := analytics.NewClient(""); err == nil {
		t.Error("a client without a write key")
	}
	if _, err := analytics.NewClient("wk", analytics.WithContext(map[string]any{"f": func() {}})); err == nil {
		t.Error("a context that can't be written")
	} else if _, ok := errors.AsType[*analytics.EncodeError](err); !ok {
		t.Error(err)
	}
	if _, err := analytics.NewClient("wk", analytics.WithContext(map[string]any{"x": strings.Repeat("x", 32_768)})); err == nil {
		t.Error("a context that fills messages by itself")
	}
}

// Two names of one setting: the one that was changed counts. With 1 each message has a
// request of its own; otherwise what waits by then leaves together.
func TestTwoNames(t *testing.T) {
	for _, c := range []struct{ size, flushAt, want int }{
		{20, 20, 20}, {5, 20, 5}, {20, 5, 5}, {5, 7, 5}, {40, 20, 40}, {20, 40, 40}, {0, 30, 30}, {1, 20, 1}, {20, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sent recorder
			client := analytics.New("wk")
			client.Client.Transport, client.Size, client.FlushAt = &sent, c.size, c.flushAt
			for i := range 3 * c.want {
				if err := client.Track(track("u", i)); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := len(sent.bodies); got != (i+1)/c.want {
					t.Errorf("Size %d, FlushAt %d: %d requests after %d messages", c.size, c.flushAt, got, i+1)
				}
			}
			closed(t, client)
		})
	}
}

// What has piled up leaves together.
func TestPileLeavesTogether(t *testing.T) {
	client, server := dial(t, analytics.WithMaxInFlight(1))
	begun, proceed := make(chan bool, 100), make(chan bool)
	server.respond(func(http.ResponseWriter, *http.Request) {
		begun <- true
		<-proceed
	})
	for i := range 20 {
		_ = client.Track(track("u", i))
	}
	<-begun
	for i := range 3000 {
		_ = client.Track(track(strconv.Itoa(i), i))
	}
	close(proceed)
	closed(t, client)
	if got, want := server.sizes(), []int{20, 2500, 500}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// A call may have 32,768 bytes of JSON, a request 512,000; exactly.
func TestSizes(t *testing.T) {
	client, server := dial(t, analytics.WithFlushAt(100))
	message := func(fill int) *analytics.Track {
		return &analytics.Track{
			UserId: "u", Event: "e", MessageId: "m", Timestamp: "2026-11-21T08:00:00Z",
			Properties: map[string]any{"x": strings.Repeat("x", fill)},
		}
	}
	empty := len(`{"properties":{"x":""},"userId":"u","event":"e","type":"track","messageId":"m","timestamp":"2026-11-21T08:00:00Z"}`)
	if err := client.Track(message(32_769 - empty)); err == nil {
		t.Error("a call of 32,769 bytes was taken")
	} else if e, ok := errors.AsType[*analytics.TooLargeError](err); !ok || e.Limit != 32_768 || e.What != "message" {
		t.Error(err)
	}
	for range 40 {
		if err := client.Track(message(32_768 - empty)); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, client)
	if got, want := server.sizes(), []int{15, 15, 10}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	for _, r := range server.got() {
		if len(r.raw) > 512_000 {
			t.Errorf("a request of %d bytes", len(r.raw))
		}
	}
}

// Messages that have 512,000 bytes without what is around them don't fit.
func TestRequestSizeCountsItsFrame(t *testing.T) {
	client, server := dial(t, analytics.WithFlushAt(100))
	text := func(fill int) json.RawMessage {
		return json.RawMessage(`{"type":"track","event":"e","userId":"u","messageId":"m","x":"` + strings.Repeat("x", fill) + `"}`)
	}
	for range 64 {
		if err := client.Enqueue(t.Context(), analytics.Unsent{JSON: text(7999 - len(text(0)))}); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, client)
	if got, want := server.sizes(), []int{63, 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestMessageIDs(t *testing.T) {
	client, server := dial(t)
	long := strings.Repeat("é", 100)
	if err := client.Track(&analytics.Track{UserId: "u", Event: "e", MessageId: long + "x"}); err == nil {
		t.Error("a messageId of 101 characters was taken")
	} else if e, ok := errors.AsType[*analytics.TooLargeError](err); !ok || e.What != "messageId" {
		t.Error(err)
	}
	for _, m := range []*analytics.Track{
		{UserId: "u", Event: "e", MessageId: long},
		{UserId: "u", Event: "e", Message: analytics.Message{MessageId: "inner", SentAt: "2026-11-21T08:00:00Z", Type: "ignored"}},
		{UserId: "u", Event: "e", MessageId: "outer", Message: analytics.Message{MessageId: "inner"}},
	} {
		if err := client.Track(m); err != nil {
			t.Error(err)
		}
	}
	closed(t, client)
	got := server.messages()
	if got[0]["messageId"] != long || got[1]["messageId"] != "inner" || got[1]["sentAt"] != "2026-11-21T08:00:00Z" || got[1]["type"] != "track" || got[2]["messageId"] != "outer" {
		t.Errorf("%v", got)
	}
}

// A message that can't be written is refused alone; those beside it arrive.
func TestRefusedAlone(t *testing.T) {
	client, server := dial(t)
	cycle := map[string]any{}
	cycle["cycle"] = cycle
	for i, properties := range []map[string]any{nil, {"f": func() {}}, {"cycle": cycle}, {}, {"big": strings.Repeat("x", 40_000)}, nil} {
		err := client.Track(&analytics.Track{UserId: "u", Event: strconv.Itoa(i), Properties: properties})
		if bad := i == 1 || i == 2 || i == 4; (err != nil) != bad {
			t.Errorf("message %d: %v", i, err)
		}
	}
	closed(t, client)
	if got := server.messages(); len(got) != 3 || got[2]["event"] != "5" {
		t.Errorf("%v", got)
	}
}

func TestNilCalls(t *testing.T) {
	client, _ := dial(t)
	for i, call := range []analytics.Call{
		nil, (*analytics.Identify)(nil), (*analytics.Track)(nil), (*analytics.Page)(nil), (*analytics.Screen)(nil),
		(*analytics.Group)(nil), (*analytics.Alias)(nil), (*analytics.Unsent)(nil),
	} {
		err := client.Enqueue(t.Context(), call)
		if _, ok := errors.AsType[*analytics.MissingFieldError](err); !ok {
			t.Errorf("nil call %d: %v", i, err)
		}
	}
	if err := client.Track(nil); err == nil {
		t.Error("a nil message was taken")
	}
}

// What was not sent may come back from a file, and be anything.
func TestUnsentIsChecked(t *testing.T) {
	client, server := dial(t)
	for _, text := range []string{
		``, `null`, `[]`, `{"type":"track"`, `{"type":"track","userId":"u"}`, `{"messageId":"m","userId":"u"}`, `{"type":"track","messageId":"m"}`,
		`{"type":"track","messageId":"m","userId":"` + strings.Repeat("u", 32_768) + `"}`,
	} {
		if err := client.Enqueue(t.Context(), analytics.Unsent{JSON: []byte(text)}); err == nil {
			t.Errorf("%.40s was taken", text)
		}
	}
	kept, err := json.Marshal(analytics.Unsent{MessageID: "m", Type: "track", JSON: []byte(`{"type":"track","messageId":"m","anonymousId":"a"}`)})
	if err != nil {
		t.Fatal(err)
	}
	var back analytics.Unsent
	if err := json.Unmarshal(kept, &back); err != nil {
		t.Fatal(err)
	}
	if err := client.Enqueue(t.Context(), &back); err != nil {
		t.Fatal(err)
	}
	clear(back.JSON)
	closed(t, client)
	if got := server.messages(); len(got) != 1 || got[0]["messageId"] != "m" {
		t.Errorf("%v", got)
	}
}

// Maps are not read after the call, which the race detector sees here, nor are
// structs written: one may be used again and again.
func TestCallersDataIsTheirs(t *testing.T) {
	client, server := dial(t, analytics.WithFlushAt(3))
	inner := map[string]any{"deep": 0}
	message := analytics.Track{
		UserId: "u", Event: "e", Properties: map[string]any{"n": 0, "inner": inner, "list": []any{0}},
		Context: map[string]any{"c": 0}, Integrations: map[string]any{"All": true},
	}
	before := message
	for i := range 30 {
		message.Properties["n"], inner["deep"], message.Context["c"] = i, i, i
		message.Properties["list"].([]any)[0] = i
		if err := client.Track(&message); err != nil {
			t.Fatal(err)
		}
	}
	closed(t, client)
	if !reflect.DeepEqual(before, message) || message.MessageId != "" || message.Message != (analytics.Message{}) {
		t.Errorf("the struct was written: %+v", message)
	}
	seen := map[any]bool{}
	for i, m := range server.messages() {
		properties := m["properties"].(map[string]any)
		n := float64(i)
		if properties["n"] != n || properties["inner"].(map[string]any)["deep"] != n || properties["list"].([]any)[0] != n || m["context"].(map[string]any)["c"] != n {
			t.Errorf("message %d: %v", i, m)
		}
		seen[m["messageId"]] = true
	}
	if len(seen) != 30 {
		t.Errorf("%d messageIds of 30 messages", len(seen))
	}
}

// No goroutine and no connection of the client is left after Close.
func TestNothingIsLeftAfterClose(t *testing.T) {
	before := runtime.NumGoroutine()
	server := newServer()
	for range 5 {
		client, err := analytics.NewClient("wk", analytics.WithEndpoint(server.URL), analytics.WithFlushAt(1))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			_ = client.Track(track(strconv.Itoa(i), i))
		}
		closed(t, client)
	}
	deadline := time.Now().Add(30 * time.Second)
	for server.connections() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are open", server.connections())
		}
		runtime.Gosched()
	}
	server.Close()
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}

// Any method may be called by anybody at any time.
func TestEverythingAtOnce(t *testing.T) {
	client, server := dial(t, analytics.WithFlushAt(5), analytics.WithQueue(50, 1<<20), analytics.WhenFull(analytics.Block))
	var calls sync.WaitGroup
	var accepted [8]int
	for g := range 8 {
		calls.Go(func() {
			for i := range 200 {
				switch err := client.Track(track(fmt.Sprint("user-", g), i)); {
				case err == nil:
					accepted[g]++
				case !errors.Is(err, analytics.ErrClosed):
					t.Error(err)
				}
				if i%50 == 0 {
					_ = client.Flush(t.Context())
				}
				_ = client.Stats()
			}
		})
	}
	var closes sync.WaitGroup
	for range 3 {
		closes.Go(func() {
			for client.Stats().Sent < 400 {
				runtime.Gosched()
			}
			if err := client.Close(); err != nil && !errors.Is(err, analytics.ErrClosed) {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	closes.Wait()
	next := map[any]float64{}
	for _, m := range server.messages() {
		if n := m["properties"].(map[string]any)["n"].(float64); n != next[m["userId"]] {
			t.Errorf("%v: message %v, want %v", m["userId"], n, next[m["userId"]])
		}
		next[m["userId"]]++
	}
	for g, n := range accepted {
		if got := next[fmt.Sprint("user-", g)]; got != float64(n) {
			t.Errorf("user %d: %d accepted, %v arrived", g, n, got)
		}
	}
	if s := client.Stats(); s.Accepted != s.Sent {
		t.Errorf("%+v", s)
	}
}

func TestOutcomes(t *testing.T) {
	outcomes := make(chan analytics.Outcome, 10)
	client, server := dial(t, analytics.WithFlushAt(1), analytics.WithCallback(func(o analytics.Outcome) { outcomes <- o }))
	_ = client.Identify(&analytics.Identify{UserId: "u", MessageId: "m1"})
	if got := <-outcomes; got.MessageID != "m1" || got.Type != "identify" || got.Err != nil {
		t.Errorf("%+v", got)
	}
	server.respond(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"success":false,"code":"invalid_write_key","message":"the write key is wrong"}`))
	})
	_ = client.Group(&analytics.Group{UserId: "u", GroupId: "g"})
	got := <-outcomes
	refused, ok := errors.AsType[*analytics.RefusedError](got.Err)
	if !ok || refused.Status != 401 || refused.Code != "invalid_write_key" || refused.Alone || got.Err.Error() != "refused by the server: status 401 invalid_write_key: the write key is wrong" {
		t.Errorf("%+v", got)
	}
	server.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	_ = client.Page(&analytics.Page{UserId: "u"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := client.CloseContext(ctx)
	if e, ok := errors.AsType[*analytics.UnsentError](err); !ok || len(e.Messages) != 1 || !errors.Is(err, analytics.ErrUnsent) {
		t.Error(err)
	}
	if got := <-outcomes; !errors.Is(got.Err, analytics.ErrUnsent) {
		t.Errorf("%+v", got)
	}
}

// A redirect is followed by nobody: it would turn the POST into a GET.
func TestRedirectsAreRefusals(t *testing.T) {
	outcomes := make(chan analytics.Outcome, 1)
	client, server := dial(t, analytics.WithCallback(func(o analytics.Outcome) { outcomes <- o }))
	server.respond(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	_ = client.Track(track("u", 1))
	closed(t, client)
	refused, ok := errors.AsType[*analytics.RefusedError]((<-outcomes).Err)
	if !ok || refused.Status != http.StatusFound || len(server.got()) != 1 {
		t.Errorf("%v, %d requests", refused, len(server.got()))
	}
}

func TestPostsAreRedirected(t *testing.T) {
	outcomes := make(chan analytics.Outcome, 1)
	client, server := dial(t, analytics.WithCallback(func(o analytics.Outcome) { outcomes <- o }))
	server.respond(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/elsewhere" {
			http.Redirect(w, r, "/elsewhere", http.StatusPermanentRedirect)
		}
	})
	_ = client.Track(track("u", 1))
	closed(t, client)
	if o := <-outcomes; o.Err != nil || len(server.got()) != 2 {
		t.Errorf("%v, %d requests", o.Err, len(server.got()))
	}
}

func TestRedirectsEnd(t *testing.T) {
	outcomes := make(chan analytics.Outcome, 1)
	client, server := dial(t, analytics.WithCallback(func(o analytics.Outcome) { outcomes <- o }))
	server.respond(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/again", http.StatusTemporaryRedirect)
	})
	_ = client.Track(track("u", 1))
	closed(t, client)
	if refused, ok := errors.AsType[*analytics.RefusedError]((<-outcomes).Err); !ok || refused.Status != http.StatusTemporaryRedirect {
		t.Errorf("%v after %d requests", refused, len(server.got()))
	}
}

// The log never has the write key, nor what a message says.
func TestLogKeepsSecrets(t *testing.T) {
	var out lines
	server := newServer()
	defer server.Close()
	server.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	client := analytics.New("canary-key")
	client.Endpoint = strings.Replace(server.URL, "http://", "http://canary-user:canary-password@", 1) + "/v1/batch?canary-query"
	client.Verbose, client.Logger = true, log.New(&out, "", 0)
	_ = client.Track(&analytics.Track{UserId: "canary-id", Event: "canary-event", Properties: map[string]any{"canary": "canary"}})
	server.CloseClientConnections()
	closed(t, client)
	if text := out.String(); text == "" || strings.Contains(text, "canary") {
		t.Errorf("log: %q", text)
	}
}

// A server that fails for longer than a message may wait loses it, and says so.
func TestMaxAge(t *testing.T) {
	outcomes := make(chan analytics.Outcome, 1)
	client, server := dial(t, analytics.WithFlushAt(1), analytics.WithMaxAge(50*time.Millisecond), analytics.WithCallback(func(o analytics.Outcome) { outcomes <- o }))
	server.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	_ = client.Track(track("u", 1))
	if o := <-outcomes; !errors.Is(o.Err, analytics.ErrExpired) || !strings.Contains(o.Err.Error(), "status 503") {
		t.Errorf("%+v", o)
	}
	closed(t, client)
	if s := client.Stats(); s.Expired != 1 || s.Queued != 0 {
		t.Errorf("%+v", s)
	}
}

func TestWithoutLogger(t *testing.T) {
	server := newServer()
	defer server.Close()
	client := analytics.New("wk")
	client.Endpoint, client.Logger = server.URL, nil
	_ = client.Track(track("u", 1))
	closed(t, client)
	if len(server.messages()) != 1 {
		t.Error("not sent")
	}
}

// DEBUG may be a list.
func TestDebug(t *testing.T) {
	for value, want := range map[string]bool{"": false, "analytics": true, "http,analytics": true, "http analytics": true, "*": true, "analyticsx": false, "http": false} {
		t.Setenv("DEBUG", value)
		if got := analytics.New("wk").Verbose; got != want {
			t.Errorf("DEBUG=%s: %t", value, got)
		}
	}
}

func TestBatchContext(t *testing.T) {
	client, server := dial(t, analytics.WithContext(map[string]any{"app": "shop"}))
	_ = client.Track(track("u", 1))
	closed(t, client)
	want := map[string]any{"app": "shop", "library": map[string]any{"name": "analytics-go", "version": analytics.Version}}
	if got := server.got()[0].body["context"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}
