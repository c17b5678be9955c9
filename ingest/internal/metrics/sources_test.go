package metrics

import (
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

func TestSourcesBeyondTheBoundShareALabel(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := New(registry, slog.New(slog.DiscardHandler))
	const all = maxSources + 20
	for range 2 { // who has a series keeps it
		for i := range all {
			o := Outcome{Source: "s" + strconv.Itoa(i), Accepted: 1, Violating: 1, Action: workspace.PlanAllow}
			r.Request(t.Context(), noon, &o)
		}
	}
	got := counted(t, registry)
	sum, series := 0., 0
	for name, value := range got {
		if strings.HasPrefix(name, "plan_violations_total ") {
			sum, series = sum+value, series+1
		}
	}
	if series != maxSources+1 || sum != 2*all {
		t.Errorf("%v violations in %d series, want %d in %d", sum, series, 2*all, maxSources+1)
	}
	if others := got["plan_violations_total allow _other"]; others != 2*(all-maxSources) {
		t.Errorf("%v violations of others, want %d", others, 2*(all-maxSources))
	}
	if schemas.ValidID(otherSources) {
		t.Error("a source may be called as the others are")
	}
}
