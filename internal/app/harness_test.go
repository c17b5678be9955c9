package app

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/broker/datadir"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/test/testkit"
)

// running is a process under test: Run in this process, ports of its own.
type running struct {
	screen *testkit.Logs
	log    *testkit.Logs
	json   *testkit.Logs // the same log in the other format
	api    string        // http://host:port of the collection API
	admin  string
	token  string // of /regulations
	stop   func() error
}

// environment is the least that a process needs to run beside others: free
// ports, a data directory, and, where the tests are told to use one, a real
// broker.
func environment(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{
		"INGEST_ADDR": "127.0.0.1:0", "ADMIN_ADDR": "127.0.0.1:0", "RECEIVER_ADDR": "127.0.0.1:0", "BROKER_ADDR": "127.0.0.1:0",
		"DATA_DIR": t.TempDir(), "INSTANCE_ID": "test",
	}
	if os.Getenv("KAFKA_BROKERS") != "" || os.Getenv("ANABRANCH_TEST_BROKER") != "" {
		env["ADMIN_TOKEN"] = "zqAdminToken7"
		env["KAFKA_BROKERS"] = strings.Join(testkit.Brokers(t).Addrs, ",")
	}
	return env
}

// with returns a copy of env with further settings.
func with(env map[string]string, settings ...string) map[string]string {
	out := make(map[string]string, len(env)+len(settings)/2)
	maps.Copy(out, env)
	for i := 0; i < len(settings); i += 2 {
		out[settings[i]] = settings[i+1]
	}
	return out
}

// start runs a target until the test ends or stop is called, and waits until it
// says that it is ready.
func start(t *testing.T, env map[string]string) *running {
	t.Helper()
	return startStages(t, env, Stages())
}

// startStages is start with the stages of a list.
func startStages(t *testing.T, env map[string]string, list pipeline.List) *running {
	t.Helper()
	cfg, err := settings.Load(env, list)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{screen: new(testkit.Logs), log: new(testkit.Logs), json: new(testkit.Logs)}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		debug := &slog.HandlerOptions{Level: slog.LevelDebug}
		log := slog.New(slog.NewMultiHandler(slog.NewTextHandler(r.log, debug), slog.NewJSONHandler(r.json, debug)))
		done <- Run(ctx, TargetRun, settings.Process{Config: cfg, Log: log, Out: r.screen, Environment: env})
	}()
	r.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(20 * time.Second):
			t.Fatal("the process does not stop")
			return nil
		}
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("the stop was not orderly: %v", err)
		}
		if t.Failed() {
			t.Logf("log:\n%s", tail(r.log.String(), 60000))
		}
	})
	testkit.Until(t, func() bool {
		select {
		case err := <-done:
			done <- err
			t.Fatalf("the process ended while it started: %v\n%s", err, r.log)
		default:
		}
		return strings.Contains(r.screen.String(), "Anabranch is ready.")
	}, "the process to be ready")
	r.api = "http://" + find(t, r.screen.String(), `collection API\s+http://([^/]+)/`)
	r.admin = "http://" + find(t, r.screen.String(), `metrics, health\s+http://([^/]+)/`)
	if r.token = env["ADMIN_TOKEN"]; r.token == "" && env["KAFKA_BROKERS"] == "" { // else none is made
		made, err := datadir.Read(env["DATA_DIR"], datadir.AdminToken)
		if err != nil {
			t.Fatal(err)
		}
		r.token = made.Reveal()
	}
	return r
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// find returns the first group of the pattern in the text.
func find(t *testing.T, text, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("no %s in:\n%s", pattern, text)
	}
	return m[1]
}

// post sends a body with a write key and returns the answer's status.
func (r *running) post(t *testing.T, path, key, body string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.api+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(key, "")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
