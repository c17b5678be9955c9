package app

import (
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/app/settings"
	"github.com/anabranch/anabranch/internal/telemetry"
)

var update = flag.Bool("update", false, "write the table of docs/metrics.md anew")

const (
	metricsPage  = "../../docs/metrics.md"
	metricsBegin = "<!-- metrics:begin -->\n"
	metricsEnd   = "<!-- metrics:end -->"
)

// TestTheMetricsPageIsComplete: it lists what a process that runs every stage
// registers, as the code describes it. Run it with -update to write it anew.
func TestTheMetricsPageIsComplete(t *testing.T) {
	page, err := os.ReadFile(metricsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(page), metricsBegin)
	table, tail, found := strings.Cut(rest, metricsEnd)
	if !found {
		t.Fatalf("%s has no %s and %s", metricsPage, strings.TrimSpace(metricsBegin), metricsEnd)
	}
	want := metricsTable(t, fullRegistry(t))
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the code says: run this test with -update. It should be:\n%s", metricsPage, want)
	}
	if err := os.WriteFile(metricsPage, []byte(head+metricsBegin+want+metricsEnd+tail), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAScrapeWithoutDestinationsIsSmall: the two stages that tell something of each
// destination are held to the rest of two megabytes by tests of their own.
func TestAScrapeWithoutDestinationsIsSmall(t *testing.T) {
	registry := fullRegistry(t)
	w := httptest.NewRecorder()
	(&telemetry.Admin{Gatherer: registry}).Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if size := w.Body.Len(); w.Code != http.StatusOK || size < 10<<10 || size > 100<<10 {
		t.Errorf("a scrape is %d with %d bytes, want 10 to 100 KiB", w.Code, size)
	}
}

// fullRegistry returns the registry of a process that runs every stage and watches
// a file. Nothing of it runs.
func fullRegistry(t *testing.T) *prometheus.Registry {
	t.Helper()
	env := environment(t)
	env["KAFKA_BROKERS"] = "" // the embedded broker has series of its own
	cfg, err := settings.Load(env, Stages())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	p, err := newPlumbing(cfg, TargetRun, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.close()
		if closing := p.fail(nil); closing != nil {
			t.Error(closing)
		}
	})
	if err = p.makeStages(); err != nil {
		t.Fatal(err)
	}
	r := &run{Process: settings.Process{Config: cfg, Log: log}, target: TargetRun}
	if err = r.listen(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	r.tiers(p, p.live.Load())
	return p.registry
}

// described is a metric as its descriptor says.
type described struct{ help, labels, kind string }

var descriptor = regexp.MustCompile(`^Desc\{fqName: "(\w+)", help: ("(?:[^"\\]|\\.)*"), unit: "[^"]*", constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)

// metricsTable describes the metrics of our own in a registry.
func metricsTable(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	all := make(map[string]described)
	for _, d := range descriptors(registry) {
		m := descriptor.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("unexpected descriptor %s", d)
		}
		if name := m[1]; strings.HasPrefix(name, "anabranch_") {
			help, err := strconv.Unquote(m[2])
			if err != nil {
				t.Fatal(err)
			}
			all[name] = described{strings.TrimSuffix(help, ".") + ".", labelsOf(m[3], m[4]), kindOf(name)}
		}
	}
	kinds(t, registry, all)
	var b strings.Builder
	b.WriteString("| metric | type | labels | |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d := all[name]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", name, d.kind, d.labels, strings.ReplaceAll(d.help, "|", "\\|"))
	}
	return b.String()
}

func descriptors(registry *prometheus.Registry) []*prometheus.Desc {
	ch := make(chan *prometheus.Desc)
	go func() {
		defer close(ch)
		registry.Describe(ch)
	}()
	var all []*prometheus.Desc
	for d := range ch {
		all = append(all, d)
	}
	return all
}

var constLabel = regexp.MustCompile(`(\w+)="`)

func labelsOf(constant, variable string) string {
	var names []string
	for _, m := range constLabel.FindAllStringSubmatch(constant, -1) {
		names = append(names, m[1])
	}
	if variable != "" {
		names = append(names, strings.Split(variable, ",")...)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// kinds corrects the types of those metrics that have series from the start.
func kinds(t *testing.T, registry *prometheus.Registry, all map[string]described) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if d, ours := all[f.GetName()]; ours {
			d.kind = strings.ToLower(f.GetType().String())
			all[f.GetName()] = d
		}
	}
}

// kindOf is the type of a metric that has no series before it is first used, which
// does not show before.
func kindOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_total"):
		return "counter"
	case name == "anabranch_kafka_request_throttled_seconds":
		return "histogram"
	default:
		return "gauge"
	}
}
