package metrics

import (
	"errors"
	"log/slog"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// counted returns every counter that is not zero, without the prefix.
func counted(t *testing.T, registry *prometheus.Registry) map[string]float64 {
	t.Helper()
	all := make(map[string]float64)
	for name, value := range testkit.Counters(t, registry) {
		if value != 0 {
			all[strings.TrimPrefix(name, "anabranch_ingest_")] = value
		}
	}
	return all
}

// TestWhatIsCounted reports one request after the other, each to a reporter of
// its own. What comes again is counted when it does.
func TestWhatIsCounted(t *testing.T) {
	bad := []decode.Refusal{{Violation: schemas.Violation{Code: schemas.CodeTypeUnknown}}, {Violation: schemas.Violation{Code: schemas.CodeIDRequired}}}
	full := Outcome{
		Source: "website", Accepted: 5, Blocked: 2, Suppressed: 3, Violating: 4, Action: workspace.PlanBlock,
		Unreadable: 6, Skew: timestamp.Skew{Calls: 7}, Rejected: bad,
	}
	with := func(p *answer.Problem) Outcome {
		o := full
		o.Problem = p
		return o
	}
	rejected := map[string]float64{"events_total rejected": 2, "rejected_total type_unknown": 1, "rejected_total id_required": 1, "unreadable_timestamps_total": 6, "skewed_clocks_total": 7}
	none := Outcome{Problem: answer.NoneAccepted(bad, true), Rejected: bad, Unreadable: 6, Skew: timestamp.Skew{Calls: 7}}
	for name, c := range map[string]struct {
		outcome Outcome
		want    []map[string]float64
	}{
		"accepted": {full, []map[string]float64{rejected, {
			"requests_total 200": 1, "events_total accepted": 5, "events_total blocked": 2, "events_total suppressed": 3, "plan_violations_total block website": 4,
		}}},
		"nothing asked for": {Outcome{}, []map[string]float64{{"requests_total 200": 1}}},
		"an outage":         {with(answer.Of(errors.New("no leader"))), []map[string]float64{{"requests_total 503": 1, "unavailable_total": 7}}},
		"too fast":          {with(answer.TooManyEvents(1)), []map[string]float64{{"requests_total 429": 1, "throttled_total": 7}}},
		"wrong keys":        {Outcome{Problem: answer.TooManyWrongKeys(1)}, []map[string]float64{{"requests_total 429": 1}}},
		"none good":         {none, []map[string]float64{rejected, {"requests_total 400": 1}}},
		"bad as a whole": {
			Outcome{Problem: answer.TooLong(1, true), Source: "website"},
			[]map[string]float64{{"requests_total 413": 1, "events_total rejected": 1, "rejected_total too_large": 1}},
		},
		"no call at all": {Outcome{Problem: answer.NotFound()}, []map[string]float64{{"requests_total 404": 1}}},
	} {
		registry := prometheus.NewRegistry()
		New(registry, slog.New(slog.DiscardHandler)).Request(t.Context(), noon, &c.outcome)
		want := make(map[string]float64)
		for _, part := range c.want {
			maps.Copy(want, part)
		}
		if diff := cmp.Diff(want, counted(t, registry)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatIsNoCall(t *testing.T) {
	registry := prometheus.NewRegistry()
	r := New(registry, slog.New(slog.DiscardHandler))
	r.Preflight()
	r.Shed()
	if diff := cmp.Diff(map[string]float64{"requests_total 204": 1, "connections_shed_total": 1}, counted(t, registry)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
