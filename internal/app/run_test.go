package app

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestTheFirstMinute is what a person does first: start it, paste the call that
// it prints, see the delivery, and then what the example's audience and computed trait
// make of it.
func TestTheFirstMinute(t *testing.T) {
	t.Parallel()
	r := start(t, environment(t))
	text := r.screen.String()
	if !strings.Contains(text, "curl -u "+workspace.ExampleWriteKey+": "+r.api+"/v1/track") {
		t.Errorf("the start-up text has no call to paste:\n%s", text)
	}
	body := find(t, text, `-d '([^']+)'`)
	if status := r.post(t, "/v1/track", workspace.ExampleWriteKey, body); status != http.StatusOK {
		t.Fatalf("the pasted call was answered %d", status)
	}
	printed := func() string { return strings.TrimPrefix(r.screen.String(), text) }
	testkit.Until(t, func() bool { return strings.Contains(printed(), "Signed Up") }, "the delivery to be printed")
	if !strings.Contains(printed(), "signature ok") {
		t.Errorf("the receiver printed:\n%s", printed())
	}
	for _, told := range []string{`"new_pros":true`, `"sign_ups":1`} {
		testkit.Until(t, func() bool { return strings.Contains(strings.ReplaceAll(printed(), `": `, `":`), told) }, "the receiver to print "+told)
	}
	if status := r.get(t, "/readyz"); status != "ready\n" {
		t.Errorf("/readyz says %q", status)
	}
	metrics := r.get(t, "/metrics")
	for _, line := range []string{
		`anabranch_ingest_events_total{result="accepted"} 1`,
		`anabranch_router_events_total{destination="example",result="routed"} 3`,
		`anabranch_webhook_sink_deliveries_total{destination="example",result="delivered"} 3`,
	} {
		testkit.Until(t, func() bool {
			metrics = r.get(t, "/metrics")
			return strings.Contains(metrics, line)
		}, line)
	}
}

func (r *running) get(t *testing.T, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.admin+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestStartsAgainWhereItWas: what was accepted before a stop is delivered after
// it, and a workspace that was applied is not replaced by the example.
func TestStartsAgainWhereItWas(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	receiver.Respond(testkit.Statuses(http.StatusServiceUnavailable))
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL))
	env := with(environment(t), "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8", "WEBHOOK_SINK_RETRY_DELAYS", "100ms")
	first := start(t, with(env, "WORKSPACE_FILE", file))
	if status := first.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"Before","messageId":"m1"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	receiver.Wait(t, 1)
	began := time.Now()
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("the stop took %s", took)
	}

	receiver.Respond(nil)
	before := len(receiver.Deliveries())
	second := start(t, env)
	if status := second.post(t, "/v1/track", workspace.ExampleWriteKey, `{"userId":"u","event":"x"}`); status != http.StatusUnauthorized {
		t.Errorf("the example's key is answered %d: it replaced the workspace that was applied", status)
	}
	if status := second.post(t, "/v1/track", "wk_books", `{"userId":"u","event":"After","messageId":"m2"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	ids := map[string]int{}
	testkit.Until(t, func() bool {
		clear(ids)
		for _, d := range receiver.Deliveries()[before:] {
			ids[d.JSON(t)["messageId"].(string)]++
		}
		return ids["m1"] > 0 && ids["m2"] > 0
	}, "both calls to arrive")
	if ids["m1"] != 1 || ids["m2"] != 1 {
		t.Errorf("after the restart the calls arrived %v times, want once each", ids)
	}
}

// TestOwnWorkspaceWithTheExampleKey: the start-up text promises the built-in
// receiver only while it is where the calls go.
func TestOwnWorkspaceWithTheExampleKey(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, strings.ReplaceAll(books(receiver.URL), "wk_books", workspace.ExampleWriteKey))
	env := environment(t)
	if err := start(t, with(env, "WORKSPACE_FILE", file)).stop(); err != nil {
		t.Fatal(err)
	}
	if text := start(t, env).screen.String(); strings.Contains(text, "curl") || strings.Contains(text, "webhook receiver") {
		t.Errorf("the start-up text speaks of the example:\n%s", text)
	}
}

// TestFollowsItsWorkspaceFile while it runs.
func TestFollowsItsWorkspaceFile(t *testing.T) {
	t.Parallel()
	receiver := testkit.NewReceiver(t)
	file := filepath.Join(t.TempDir(), "workspace.yaml")
	writeFile(t, file, books(receiver.URL+"/one"))
	r := start(t, with(environment(t), "WORKSPACE_FILE", file, "WEBHOOK_SINK_ALLOW_NETWORKS", "127.0.0.0/8"))

	writeFile(t, file, "sources: [") // half-written: changes nothing
	testkit.Until(t, func() bool { return strings.Contains(r.log.String(), "workspace.yaml:1") }, "the mistake to be logged")
	if status := r.post(t, "/v1/identify", "wk_books", `{"userId":"u"}`); status != http.StatusOK {
		t.Fatalf("the call was answered %d", status)
	}
	if got := receiver.Wait(t, 1)[0].Path; got != "/one" {
		t.Errorf("delivered to %s, want /one", got)
	}
	writeFile(t, file, books(receiver.URL+"/two"))
	testkit.Until(t, func() bool {
		r.post(t, "/v1/identify", "wk_books", `{"userId":"u"}`)
		all := receiver.Deliveries()
		return all[len(all)-1].Path == "/two"
	}, "a delivery to the new URL")
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func books(url string) string {
	return strings.ReplaceAll(`
sources:
  - {id: books, name: Books, writeKey: wk_books}
destinations:
  - {id: books, type: webhooks, name: Books, sources: [books], sharedSecret: s3cret, endpoints: [{url: "URL"}]}
`, "URL", url)
}

// TestWhatCannotWorkIsOneClearLine: each mistake names the thing and what was
// expected, and nothing is left running.
func TestWhatCannotWorkIsOneClearLine(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	broken := filepath.Join(t.TempDir(), "broken.yaml")
	writeFile(t, broken, "sources:\n  - {id: Web, writeKey: k}\ndestinations: []\n")
	busy := t.TempDir()
	env := map[string]string{
		"INGEST_ADDR": "127.0.0.1:0", "ADMIN_ADDR": "127.0.0.1:0", "RECEIVER_ADDR": "127.0.0.1:0", "BROKER_ADDR": "127.0.0.1:0", "DATA_DIR": busy,
	}
	start(t, env)
	fresh := with(env, "DATA_DIR", "") // each case has its own
	for name, c := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"a malformed duration":    {with(fresh, "WEBHOOK_SINK_TIMEOUT", "soon"), []string{"WEBHOOK_SINK_TIMEOUT=soon", "expected a duration such as"}},
		"a value out of range":    {with(fresh, "WEBHOOK_SINK_RETRY_WINDOW", "5h"), []string{"WEBHOOK_SINK_RETRY_WINDOW=5h", "at most 4h"}},
		"a malformed number":      {with(fresh, "TOPIC_PARTITIONS", "six"), []string{"TOPIC_PARTITIONS=six", "whole number"}},
		"a malformed network":     {with(fresh, "WEBHOOK_SINK_ALLOW_NETWORKS", "10.0.0.0/8,lan"), []string{"WEBHOOK_SINK_ALLOW_NETWORKS=10.0.0.0/8,lan", "10.0.0.0/8"}},
		"a malformed address":     {with(fresh, "ADMIN_ADDR", "8081"), []string{"ADMIN_ADDR=8081", "host:port"}},
		"an admin port in use":    {with(fresh, "ADMIN_ADDR", taken.Addr().String()), []string{"ADMIN_ADDR=" + taken.Addr().String(), "in use"}},
		"an ingest port in use":   {with(fresh, "INGEST_ADDR", taken.Addr().String()), []string{"INGEST_ADDR=" + taken.Addr().String(), "in use"}},
		"a receiver port in use":  {with(fresh, "RECEIVER_ADDR", taken.Addr().String()), []string{"RECEIVER_ADDR=" + taken.Addr().String(), "in use"}},
		"a broker port in use":    {with(fresh, "BROKER_ADDR", taken.Addr().String()), []string{"BROKER_ADDR=" + taken.Addr().String(), "in use"}},
		"a data directory in use": {env, []string{"DATA_DIR", busy}},
		"a broken workspace":      {with(fresh, "WORKSPACE_FILE", broken), []string{"broken.yaml:2", "sources[0].id", "Web"}},
		"a missing workspace":     {with(fresh, "WORKSPACE_FILE", broken+"x"), []string{broken + "x"}},
		"an unknown root file":    {with(fresh, "WEBHOOK_SINK_EXTRA_CA_FILE", broken), []string{"WEBHOOK_SINK_EXTRA_CA_FILE", broken}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.env["DATA_DIR"] == "" {
				c.env["DATA_DIR"] = t.TempDir()
			}
			err := attempt(t, TargetRun, c.env)
			for _, part := range c.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("the error is %v, want %q in it", err, part)
				}
			}
		})
	}
	t.Run("a stage without brokers", func(t *testing.T) {
		err := attempt(t, "router", with(fresh, "KAFKA_BROKERS", ""))
		if err == nil || !strings.Contains(err.Error(), "KAFKA_BROKERS") {
			t.Errorf("the error is %v, want KAFKA_BROKERS in it", err)
		}
	})
}

// attempt runs a target that is expected to refuse to start.
func attempt(t *testing.T, target string, env map[string]string) error {
	t.Helper()
	cfg, err := settings.Load(env, Stages())
	if err != nil {
		return err
	}
	return Run(t.Context(), target, settings.Process{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Environment: env})
}
