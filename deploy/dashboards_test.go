package deploy

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// dashboard is one of Grafana's, as far as it matters here.
type dashboard struct {
	file       string
	UID        string  `json:"uid"`
	Title      string  `json:"title"`
	Panels     []panel `json:"panels"`
	Templating struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type variable struct {
	Name  string          `json:"name"`
	Query json.RawMessage `json:"query"`
}

type panel struct {
	ID          int         `json:"id"`
	Type        string      `json:"type"`
	Title       string      `json:"title"`
	Description string      `json:"description"`
	Datasource  datasource  `json:"datasource"`
	GridPos     rectangle   `json:"gridPos"`
	FieldConfig fieldConfig `json:"fieldConfig"`
	Targets     []target    `json:"targets"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

type rectangle struct {
	X int `json:"x"`
	Y int `json:"y"`
	W int `json:"w"`
	H int `json:"h"`
}

type fieldConfig struct {
	Defaults struct {
		Unit string `json:"unit"`
	} `json:"defaults"`
}

type target struct {
	RefID      string     `json:"refId"`
	Expr       string     `json:"expr"`
	Datasource datasource `json:"datasource"`
}

func dashboards(t *testing.T) []dashboard {
	t.Helper()
	var all []dashboard
	for _, file := range files(t, "grafana/dashboards/*.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := dashboard{file: file}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, d)
	}
	return all
}

// shown returns the panels that show something: rows are headings.
func (d dashboard) shown() []panel {
	var all []panel
	for _, p := range d.Panels {
		if p.Type != "row" {
			all = append(all, p)
		}
	}
	return all
}

func (d dashboard) expressions() []string {
	var all []string
	for _, p := range d.shown() {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if asked := regexp.MustCompile(`label_values\(([^,]+),`).FindSubmatch(v.Query); asked != nil {
			all = append(all, strings.ReplaceAll(string(asked[1]), `\"`, `"`))
		}
	}
	return all
}

func TestDashboardsAskForWhatThereIs(t *testing.T) {
	t.Parallel()
	known := products(t).withRecorded(t)
	for _, d := range dashboards(t) {
		for _, expr := range d.expressions() {
			for _, wrong := range known.wrong(expr) {
				t.Errorf("%s: %s", d.file, wrong)
			}
		}
	}
}

// TestPanelsExplainThemselves: a number without a unit, or a word that only its
// author knows, costs time when there is none.
func TestPanelsExplainThemselves(t *testing.T) {
	t.Parallel()
	chosen := datasource{Type: "prometheus", UID: "${datasource}"}
	for _, d := range dashboards(t) {
		for _, p := range d.shown() {
			if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 {
				t.Errorf("%s, panel %d %q: title, description, unit or query is missing", d.file, p.ID, p.Title)
			}
			if p.Datasource != chosen {
				t.Errorf("%s, panel %q: its data source is %v, not the one chosen", d.file, p.Title, p.Datasource)
			}
			for _, target := range p.Targets {
				if target.Datasource != chosen {
					t.Errorf("%s, panel %q, query %s: data source %v", d.file, p.Title, target.RefID, target.Datasource)
				}
			}
		}
	}
}

func TestIdentifiersAreUnique(t *testing.T) {
	t.Parallel()
	boards := make(map[string]bool)
	for _, d := range dashboards(t) {
		if d.UID == "" || d.Title == "" || boards[d.UID] {
			t.Errorf("%s: uid %q, title %q", d.file, d.UID, d.Title)
		}
		boards[d.UID] = true
		panels := make(map[int]bool)
		for _, p := range d.Panels {
			if panels[p.ID] || p.ID == 0 {
				t.Errorf("%s: panel id %d of %q is not its own", d.file, p.ID, p.Title)
			}
			panels[p.ID] = true
			queries := make(map[string]bool)
			for _, target := range p.Targets {
				if target.RefID == "" || queries[target.RefID] {
					t.Errorf("%s, panel %q: query %q is not its own", d.file, p.Title, target.RefID)
				}
				queries[target.RefID] = true
			}
		}
	}
}

// TestPanelsFitIntoTheGrid, which is 24 wide: Grafana moves what overlaps.
func TestPanelsFitIntoTheGrid(t *testing.T) {
	t.Parallel()
	type cell struct{ x, y int }
	for _, d := range dashboards(t) {
		taken := make(map[cell]string)
		for _, p := range d.Panels {
			g := p.GridPos
			if g.W < 1 || g.H < 1 || g.X < 0 || g.X+g.W > 24 {
				t.Errorf("%s, panel %q lies at %+v", d.file, p.Title, g)
			}
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					if other := taken[cell{x, y}]; other != "" {
						t.Fatalf("%s: panels %q and %q overlap", d.file, p.Title, other)
					}
					taken[cell{x, y}] = p.Title
				}
			}
		}
	}
}

// TestVariablesAreDefined: Grafana sends an unknown one to Prometheus as it stands.
func TestVariablesAreDefined(t *testing.T) {
	t.Parallel()
	used := regexp.MustCompile(`\$\{?(\w+)\}?`)
	for _, d := range dashboards(t) {
		known := map[string]bool{"__rate_interval": true}
		for _, v := range d.Templating.List {
			known[v.Name] = true
		}
		for _, expr := range d.expressions() {
			for _, m := range used.FindAllStringSubmatch(expr, -1) {
				if !known[m[1]] {
					t.Errorf("%s: %s is not defined", d.file, m[0])
				}
			}
		}
	}
}

// TestProvisioningMatches what docker-compose.yml mounts.
func TestProvisioningMatches(t *testing.T) {
	t.Parallel()
	var provider struct {
		Providers []struct{ Options struct{ Path string } }
	}
	load(t, "grafana/provisioning/dashboards/anabranch.yml", &provider)
	compose, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range provider.Providers {
		if !strings.Contains(string(compose), "./deploy/grafana/dashboards:"+p.Options.Path) {
			t.Errorf("docker-compose.yml does not mount the dashboards at %s", p.Options.Path)
		}
	}
	for _, mount := range []string{
		"./deploy/grafana/provisioning:/etc/grafana/provisioning",
		"./deploy/prometheus/prometheus.yml:/etc/prometheus/prometheus.yml",
		"./deploy/prometheus/rules:/etc/prometheus/rules",
	} {
		if !strings.Contains(string(compose), mount) {
			t.Errorf("docker-compose.yml does not mount %s", mount)
		}
	}
}
