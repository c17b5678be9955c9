package ingest

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/ingest/internal/metrics"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func (s *stage) value(t *testing.T, name, label string) float64 {
	t.Helper()
	return testkit.Counters(t, s.registry)[name+" "+label]
}

func TestSeriesExistBeforeTheFirstEvent(t *testing.T) {
	registry := prometheus.NewRegistry()
	metrics.New(registry, slog.New(slog.DiscardHandler))
	all := testkit.Counters(t, registry)
	if len(all) != 4+12+6+13 {
		t.Errorf("got %d series: %v", len(all), all)
	}
	for name, value := range all {
		if value != 0 {
			t.Errorf("%s is %v", name, value)
		}
	}
}

// TestCountersAddUp sends one request of each kind and compares everything that
// was counted.
func TestCountersAddUp(t *testing.T) {
	s := start(t, testkit.Fake(t))
	for _, r := range []struct {
		path, body string
		options    []func(*http.Request)
	}{
		{"/v1/identify", `{"userId":"u","timestamp":"bad","sentAt":"bad"}`, nil},
		{"/v1/batch", `{"batch":[{"type":"track","event":"e","userId":"u"},{"type":"x"},{"type":"track","userId":"u"},5]}`, nil},
		{"/v1/batch", `{"batch":[{"type":"x"},{"type":"y"}]}`, nil},
		{"/v1/track", `{"userId":"u"}`, nil},
		{"/v1/track", `{`, nil},
		{"/v1/batch", `{}`, nil},
		{"/v1/batch", batchOf(2501), nil},
		{"/v1/track", padded(40_000), nil},
		{"/v1/batch", paddedBatch(512_001), nil},
		{"/v1/track", `{}`, []func(*http.Request){noAuth}},
		{"/v1/track", `{}`, []func(*http.Request){with("Content-Encoding", "br")}},
		{"/v1/track", ``, []func(*http.Request){method(http.MethodGet)}},
		{"/nowhere", ``, nil},
		{"/v1/track", `{"userId":"u","event":"e"}`, []func(*http.Request){with("User-Agent", schemas.UserAgent)}},
		{"/v1/identify", `{"userId":"u","sentAt":"2026-11-21T10:59:59Z"}`, nil},
		{"/v1/m", `{"series":[]}`, nil},
		{"/nowhere", ``, []func(*http.Request){method(http.MethodOptions)}},
	} {
		s.post(t, r.path, r.body, r.options...)
	}
	s.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.TopicAuthorizationFailed})
	s.post(t, "/v1/batch", identities(3))

	want := map[string]float64{
		"anabranch_ingest_events_total accepted":   3,
		"anabranch_ingest_events_total rejected":   11,
		"anabranch_ingest_events_total blocked":    0,
		"anabranch_ingest_events_total suppressed": 0,

		"anabranch_ingest_rejected_total type_unknown":          3,
		"anabranch_ingest_rejected_total event_not_defined":     2,
		"anabranch_ingest_rejected_total invalid_json":          2,
		"anabranch_ingest_rejected_total empty_batch":           1,
		"anabranch_ingest_rejected_total too_many_events":       1,
		"anabranch_ingest_rejected_total too_large":             2,
		"anabranch_ingest_rejected_total no_user_anon_id":       0,
		"anabranch_ingest_rejected_total id_required":           0,
		"anabranch_ingest_rejected_total event_not_string":      0,
		"anabranch_ingest_rejected_total name_not_string":       0,
		"anabranch_ingest_rejected_total properties_not_object": 0,
		"anabranch_ingest_rejected_total traits_not_object":     0,

		"anabranch_ingest_requests_total 200": 4,
		"anabranch_ingest_requests_total 204": 1,
		"anabranch_ingest_requests_total 304": 0,
		"anabranch_ingest_requests_total 400": 6,
		"anabranch_ingest_requests_total 401": 1,
		"anabranch_ingest_requests_total 403": 1,
		"anabranch_ingest_requests_total 404": 1,
		"anabranch_ingest_requests_total 405": 1,
		"anabranch_ingest_requests_total 408": 0,
		"anabranch_ingest_requests_total 413": 1,
		"anabranch_ingest_requests_total 415": 1,
		"anabranch_ingest_requests_total 429": 0,
		"anabranch_ingest_requests_total 503": 1,

		"anabranch_ingest_unavailable_total":           3,
		"anabranch_ingest_unreadable_timestamps_total": 2,
		"anabranch_ingest_skewed_clocks_total":         1,
		"anabranch_ingest_throttled_total":             0,
		"anabranch_ingest_identity_blocked_total":      0,
		"anabranch_ingest_connections_shed_total":      0,
	}
	if diff := cmp.Diff(want, testkit.Counters(t, s.registry)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
