package ingest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// TestOwnDeliveriesAreRefused for good, by every path: an endpoint that is our own collection API, with a write key in
// its URL, would send each event around for ever.
func TestOwnDeliveriesAreRefused(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	paths := []string{"/v1/track", "/v1/batch", "/v1/t", "/beacon/v1/batch", "/v1/m", "/elsewhere"}
	for _, path := range paths {
		a := s.post(t, path, `{"type":"track","event":"e","userId":"u"}`, with("User-Agent", schemas.UserAgent))
		if a.status != http.StatusForbidden || !strings.Contains(a.body, `"own_delivery"`) {
			t.Errorf("%s was answered %d %s", path, a.status, a.body)
		}
	}
	if got := s.value(t, "anabranch_ingest_requests_total", "403"); got != float64(len(paths)) {
		t.Errorf("%v were counted, want %d", got, len(paths))
	}
	if !strings.Contains(s.log.String(), "give the destination whose endpoint is this collection API another one") {
		t.Errorf("the log does not say what to do: %s", s.log)
	}
	if a := s.post(t, "/v1/track", `{"event":"e","userId":"u"}`, with("User-Agent", "Anabranch/1.0 (a client)")); a.status != http.StatusOK {
		t.Errorf("another client was answered %d", a.status)
	}
}
