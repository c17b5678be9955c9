package ingest

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestASourceThatSendsTooMuch fills the burst of a source, which is one batch of
// the largest size.
func TestASourceThatSendsTooMuch(t *testing.T) {
	s := start(t, testkit.Brokers(t), func(c *Config) { c.RatePerSource = 100 })
	now := noon
	s.handler.now = func() time.Time { return now }
	other := func(r *http.Request) { r.SetBasicAuth("wk_app", "") }
	if got := s.post(t, "/v1/batch", batchOf(2500)); got.body != success {
		t.Fatalf("the burst: got %d %s", got.status, got.body)
	}
	got := s.post(t, "/v1/batch", identities(250))
	if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "3" || !strings.Contains(got.body, `"code":"too_many_requests"`) {
		t.Errorf("beyond: got %d %s, Retry-After %q", got.status, got.body, got.header.Get("Retry-After"))
	}
	if got := s.post(t, "/v1/batch", identities(250), other); got.body != success {
		t.Errorf("another source: got %d %s", got.status, got.body)
	}
	now = now.Add(3 * time.Second)
	if got := s.post(t, "/v1/batch", identities(250)); got.body != success {
		t.Errorf("after the wait: got %d %s", got.status, got.body)
	}
	s.stored(t, 2500+2*250)
	if got := s.value(t, "anabranch_ingest_throttled_total", ""); got != 0 {
		t.Errorf("a label: %v", got)
	}
	if got := testkit.Counters(t, s.registry)["anabranch_ingest_throttled_total"]; got != 250 {
		t.Errorf("counted %v events", got)
	}
	if !strings.Contains(s.log.String(), "see INGEST_RATE_PER_SOURCE") {
		t.Errorf("logged %s", s.log)
	}
}

// TestAnAddressWithWrongKeys sends wrong keys until they are no longer looked at,
// and a good one all the while.
func TestAnAddressWithWrongKeys(t *testing.T) {
	s := start(t, testkit.Brokers(t), func(c *Config) { c.BadKeysPerMinute = 3 })
	now := noon
	s.handler.now = func() time.Time { return now }
	wrong := func(n int) reply {
		return s.post(t, "/v1/i", oneCall, func(r *http.Request) { r.SetBasicAuth("wk_"+strconv.Itoa(n), "") })
	}
	inBody := func() reply { return s.post(t, "/v1/i", `{"userId":"u","writeKey":"wk_nobody"}`, noAuth) }
	for n, got := range []reply{wrong(1), inBody(), wrong(3)} {
		if got.status != http.StatusUnauthorized {
			t.Errorf("wrong key %d: got %d %s", n, got.status, got.body)
		}
	}
	for n, got := range []reply{wrong(1), wrong(2), inBody()} {
		if got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") != "20" {
			t.Errorf("wrong key %d beyond: got %d %s, Retry-After %q", n, got.status, got.body, got.header.Get("Retry-After"))
		}
	}
	if got := s.post(t, "/v1/i", oneCall); got.body != success {
		t.Errorf("a good key from there: got %d %s", got.status, got.body)
	}
	now = now.Add(20 * time.Second)
	if got := wrong(1); got.status != http.StatusUnauthorized {
		t.Errorf("after the wait: got %d %s", got.status, got.body)
	}
	s.stored(t, 1)
	if !strings.Contains(s.log.String(), "see INGEST_BAD_KEYS_PER_MINUTE") {
		t.Errorf("logged %s", s.log)
	}
}
