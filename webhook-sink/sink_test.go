package webhooksink

import (
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
)

// TestTheWholeSink is the stage as it is composed, with its own HTTP client, on
// whatever broker the tests run on: an event is delivered, one is delivered by its
// second attempt, and one is refused for good.
func TestTheWholeSink(t *testing.T) {
	receiver := testkit.NewReceiver(t)
	seen := make(map[string]int)
	receiver.Respond(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request: %v", err)
		}
		id := messageIDOf(t, body)
		switch seen[id]++; {
		case id == "refused":
			w.WriteHeader(http.StatusGone)
		case id == "second" && seen[id] == 1:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	crm := destination("crm")
	crm.SharedSecret = "s3cret"
	crm.Endpoints = []workspace.Endpoint{{URL: receiver.URL + "/hook?token=hidden"}}
	p := newPlant(t, testkit.Brokers(t), 1, crm)
	p.produce("crm", "user", "first", "second", "refused", "last")
	r := p.start(nil, func(c *Config, _ *Settings) {
		c.AllowNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
		c.RetryDelays = []time.Duration{200 * time.Millisecond}
	}).ready()
	deliveries := receiver.Wait(t, 5)
	h := p.deadLetters(1)[0]
	testkit.Until(t, func() bool { return r.metric("deliveries_total", "crm", "delivered") == 3 }, "three to be counted")
	r.end()

	for _, d := range deliveries {
		if !d.Signed("s3cret") || d.Header.Get("User-Agent") != "Anabranch/1.0" {
			t.Errorf("delivery %s with %v, expected a signature and the product's name", d.Body, d.Header)
		}
	}
	if h.Reason != schemas.ReasonStatus4xx || h.MessageID != "refused" || strings.Contains(h.Detail, "hidden") {
		t.Errorf("dead letter %+v, expected status_4xx of refused", h)
	}
	for outcome, want := range map[string]float64{"delivered": 3, "status_5xx": 1, "status_4xx": 1} {
		if got := r.metric("attempts_total", "crm", outcome); got != want {
			t.Errorf("attempts_total{crm,%s} is %v, expected %v", outcome, got, want)
		}
	}
}

func TestReadiness(t *testing.T) {
	p := newPlant(t, testkit.Fake(t), 1, destination("crm"))
	r := p.start(nil)
	r.ready()
	r.end()
	if err := r.sink.Ready(); err == nil || r.sink.Name() != "webhook-sink" {
		t.Errorf("a stopped sink named %s is ready", r.sink.Name())
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for _, change := range []func(*Config){
		func(c *Config) { c.RetryWindow = 5 * time.Hour },
		func(c *Config) { c.ExtraCAFile = "/does/not/exist.pem" },
	} {
		cfg := config.Default()
		change(&cfg)
		set := Settings{Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(), Workspace: workspace.NewLive(snapshot())}
		if _, err := New(cfg, set); err == nil || !strings.Contains(err.Error(), "WEBHOOK_SINK_") {
			t.Errorf("New = %v, expected an error that names the variable", err)
		}
	}
}

// TestAStopBeforeTheBrokerAnswers: nothing was begun, so there is nothing to end.
func TestAStopBeforeTheBrokerAnswers(t *testing.T) {
	p := newPlant(t, testkit.Fake(t), 1, destination("crm"))
	p.cluster.Fake.Close()
	p.start(nil).end()
}
