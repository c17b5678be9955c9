package deploy

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// rule is one of Prometheus': with a Record what is recorded, else an alert.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// alertTest is a test of promtool's, as far as it matters here.
type alertTest struct {
	Name   string
	Input  []map[string]string `yaml:"input_series"`
	Expect []struct {
		Samples []struct{ Labels string } `yaml:"exp_samples"`
	} `yaml:"promql_expr_test"`
}

// load decodes a YAML file.
func load(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// files returns those that match a pattern, at least one.
func files(t *testing.T, pattern string) []string {
	t.Helper()
	all, err := filepath.Glob(pattern)
	if err != nil || len(all) == 0 {
		t.Fatalf("files %s: %d of them, %v", pattern, len(all), err)
	}
	return all
}

func rules(t *testing.T) []rule {
	t.Helper()
	var all []rule
	for _, file := range files(t, "prometheus/rules/*.rules.yml") {
		var content struct{ Groups []struct{ Rules []rule } }
		load(t, file, &content)
		for _, group := range content.Groups {
			all = append(all, group.Rules...)
		}
	}
	return all
}

func alerts(t *testing.T) []rule {
	t.Helper()
	return slices.DeleteFunc(rules(t), func(r rule) bool { return r.Alert == "" })
}

func TestRulesAskForWhatThereIs(t *testing.T) {
	t.Parallel()
	known := products(t).withRecorded(t)
	for _, r := range rules(t) {
		for _, wrong := range known.wrong(r.Expr) {
			t.Errorf("%s%s: %s", r.Record, r.Alert, wrong)
		}
	}
}

// TestRecordedSeriesAreUsed: each is computed four times a minute.
func TestRecordedSeriesAreUsed(t *testing.T) {
	t.Parallel()
	var asked strings.Builder
	for _, r := range rules(t) {
		asked.WriteString(r.Expr)
	}
	for _, d := range dashboards(t) {
		for _, expr := range d.expressions() {
			asked.WriteString(expr)
		}
	}
	for _, r := range rules(t) {
		if r.Record == "" {
			continue
		}
		if !strings.Contains(asked.String(), r.Record) {
			t.Errorf("nothing asks for %s", r.Record)
		}
		for _, label := range recordedLabels(r.Record) {
			if !strings.Contains(r.Expr, label) {
				t.Errorf("%s does not keep %s", r.Record, label)
			}
		}
	}
}

// anchors returns those of a page's headings, as they stand in its links.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(page), -1) {
		all = append(all, strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-"))
	}
	return all
}

// TestAlertsSayWhatToDo: whoever is woken reads a sentence, not an expression, and
// finds the rest in the operations guide.
func TestAlertsSayWhatToDo(t *testing.T) {
	t.Parallel()
	guide := anchors(t, "../docs/operations.md")
	for _, a := range alerts(t) {
		if !slices.Contains([]string{"critical", "warning", "info"}, a.Labels["severity"]) {
			t.Errorf("%s: severity %q", a.Alert, a.Labels["severity"])
		}
		if a.Annotations["summary"] == "" || len(a.Annotations["description"]) < 80 {
			t.Errorf("%s does not say what happens and what to do", a.Alert)
		}
		_, anchor, found := strings.Cut(a.Annotations["runbook_url"], "/docs/operations.md#")
		if !found || !slices.Contains(guide, anchor) {
			t.Errorf("%s: docs/operations.md has no section %q", a.Alert, a.Annotations["runbook_url"])
		}
	}
}

// TestThePageListsTheAlerts as they are.
func TestThePageListsTheAlerts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alerts(t) {
		row := "| `" + a.Alert + "` | " + a.Labels["severity"] + " | " + cmp.Or(a.For, "at once") + " |"
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/metrics.md has no row %q", row)
		}
	}
	if got, want := strings.Count(string(page), "\n| `Anabranch"), len(alerts(t)); got != want {
		t.Errorf("docs/metrics.md lists %d alerts, there are %d", got, want)
	}
}

// TestAlertsNameLabelsThatTheyHave: one that is aggregated away would be printed as
// nothing.
func TestAlertsNameLabelsThatTheyHave(t *testing.T) {
	t.Parallel()
	label := regexp.MustCompile(`\$labels\.(\w+)`)
	for _, a := range alerts(t) {
		text := a.Annotations["summary"] + a.Annotations["description"]
		kept := !strings.Contains(a.Expr, " by (") && !strings.Contains(a.Expr, ":") // a plain series keeps all
		for _, m := range label.FindAllStringSubmatch(text, -1) {
			if !kept && !strings.Contains(a.Expr, m[1]) {
				t.Errorf("%s: its text has %s, its expression has not", a.Alert, m[0])
			}
		}
	}
}

// TestAlertsAreTested: promtool runs the tests, and does not mind alerts without
// any.
func TestAlertsAreTested(t *testing.T) {
	t.Parallel()
	tests := make(map[string]alertTest)
	for _, file := range files(t, "prometheus/tests/*.test.yml") {
		var content struct{ Tests []alertTest }
		load(t, file, &content)
		for _, test := range content.Tests {
			tests[test.Name] = test
		}
	}
	for _, a := range alerts(t) {
		fires, silent := tests[a.Alert+" fires"], tests[a.Alert+" is silent"]
		if !fires.sees(`alertname="` + a.Alert + `",alertstate="firing"`) {
			t.Errorf("no test sees %s fire", a.Alert)
		}
		if len(silent.Input) == 0 || len(silent.Expect) == 0 || silent.sees("") {
			t.Errorf("no test sees %s being silent beside something", a.Alert)
		}
	}
	if want := 2 * len(alerts(t)); len(tests) != want {
		t.Errorf("%d tests for %d alerts: one is left over", len(tests), want/2)
	}
}

// sees tells whether the test expects a series with these labels.
func (a alertTest) sees(labels string) bool {
	for _, e := range a.Expect {
		for _, s := range e.Samples {
			if strings.Contains(s.Labels, labels) {
				return true
			}
		}
	}
	return false
}
