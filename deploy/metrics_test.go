package deploy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// catalogue is what may be asked for: metrics by name, each with its labels.
type catalogue map[string][]string

// targetLabels are put on every series by whoever scrapes it.
var targetLabels = []string{"job", "instance", "namespace", "stage"}

// products returns the metrics of the product, which docs/metrics.md lists, and
// those that Prometheus and the client library have.
func products(t *testing.T) catalogue {
	t.Helper()
	all := catalogue{
		"up": nil, "process_open_fds": nil, "process_max_fds": nil, "process_cpu_seconds_total": nil,
		"process_resident_memory_bytes": nil, "go_goroutines": nil, "go_memstats_heap_alloc_bytes": nil,
		"go_gc_duration_seconds": {"quantile"},
	}
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- metrics:begin -->\n")
	table, _, found := strings.Cut(rest, "<!-- metrics:end -->")
	if !found {
		t.Fatal("docs/metrics.md has no table of metrics")
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		name := strings.Trim(cells[1], " `")
		labels := words(cells[3])
		switch strings.TrimSpace(cells[2]) {
		case "histogram":
			all[name+"_bucket"] = append(labels, "le")
			all[name+"_count"], all[name+"_sum"] = labels, labels
		default:
			all[name] = labels
		}
	}
	return all
}

// withRecorded adds what the recording rules make.
func (c catalogue) withRecorded(t *testing.T) catalogue {
	t.Helper()
	for _, r := range rules(t) {
		if r.Record != "" {
			c[r.Record] = recordedLabels(r.Record)
		}
	}
	return c
}

// recordedLabels are those that the name of a recorded series says it keeps.
func recordedLabels(name string) []string {
	level, _, _ := strings.Cut(name, ":")
	return strings.Split(level, "_")
}

var (
	word     = regexp.MustCompile(`[a-z_]+`)
	selector = regexp.MustCompile(`\b(anabranch_\w+|process_\w+|go_\w+|up|[a-z_]+:\w+:\w+)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	grouping = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

func words(text string) []string { return word.FindAllString(text, -1) }

// wrong lists what an expression asks for in vain.
func (c catalogue) wrong(expr string) []string {
	var wrong, labels []string
	selectors := selector.FindAllStringSubmatch(expr, -1)
	if len(selectors) == 0 {
		wrong = append(wrong, "no metric in "+expr)
	}
	for _, s := range selectors {
		has, known := c[s[1]]
		if !known {
			wrong = append(wrong, "no metric "+s[1])
			continue
		}
		labels = append(labels, has...)
		for _, m := range matcher.FindAllStringSubmatch(s[2], -1) {
			if !slices.Contains(has, m[1]) && !slices.Contains(targetLabels, m[1]) {
				wrong = append(wrong, s[1]+" has no label "+m[1])
			}
		}
	}
	for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
		for _, label := range words(g[1]) {
			if !slices.Contains(labels, label) && !slices.Contains(targetLabels, label) {
				wrong = append(wrong, "nothing with the label "+label+" in "+expr)
			}
		}
	}
	return wrong
}

// TestWrongIsFound: the other tests can't fail if this does.
func TestWrongIsFound(t *testing.T) {
	t.Parallel()
	known := catalogue{"anabranch_x_total": {"result"}, "namespace_result:anabranch_x:rate5m": {"namespace", "result"}, "up": nil}
	for expr, want := range map[string]int{
		`sum by (namespace, result) (rate(anabranch_x_total{result="a"}[5m]))`:       0,
		`up{job="anabranch"} == 0 or namespace_result:anabranch_x:rate5m{result=""}`: 0,
		`rate(anabranch_y_total[5m])`:                     1,
		`anabranch_x_total{code="200"}`:                   1,
		`sum by (code) (anabranch_x_total)`:               1,
		`namespace:anabranch_x:rate5m`:                    1,
		`1 + 1`:                                           1,
		`anabranch_x_total{a="b",c=~"d"} / anabranch_z{}`: 3,
	} {
		if got := known.wrong(expr); len(got) != want {
			t.Errorf("%s: %q, want %d of them", expr, got, want)
		}
	}
}
