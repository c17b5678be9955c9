package ingest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/test/testkit"
)

// TestGzip sends a call in every way in which a client may say, or not say, that
// it is compressed.
func TestGzip(t *testing.T) {
	var cases []exchange
	for name, options := range map[string][]func(*http.Request){
		"gzip":                  {with("Content-Encoding", "gzip")},
		"x-gzip":                {with("Content-Encoding", "X-GZIP")},
		"gzip and identity":     {with("Content-Encoding", "gzip, identity")},
		"as a form":             {with("Content-Encoding", "gzip"), with("Content-Type", "application/x-www-form-urlencoded")},
		"chunked":               {with("Content-Encoding", "gzip"), chunked},
		"the header got lost":   {},
		"the header is another": {with("Content-Encoding", "identity")},
	} {
		cases = append(cases, exchange{
			name: name, path: "/v1/i", body: compress(`{"userId":"u","messageId":"m"}`), options: options,
			stored: []string{`u source=website type=identify message-id=m origin=api {"userId":"u","messageId":"m","type":"identify",` + tail},
		})
	}
	cases = append(cases, exchange{
		name: "in two members, with the key inside", path: "/v1/i", body: compress(`{"userId":"u","messageId":`) + compress(`"m","writeKey":"wk_app"}`),
		options: []func(*http.Request){noAuth, with("Content-Encoding", "gzip")},
		stored:  []string{`u source=app type=identify message-id=m origin=api {"userId":"u","messageId":"m","type":"identify",` + tail},
	})
	exchangeAll(t, cases)
}

// TestLimitsHoldForWhatComesOut repeats the limits of plain bodies: they are on
// decompressed bytes (protocol, 2 and 7).
func TestLimitsHoldForWhatComesOut(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	type result struct {
		Status int
		Code   string
	}
	got, want, stored := map[string]result{}, map[string]result{}, 0
	for _, c := range []struct {
		name, path, body string
		result
	}{
		{"call at its limit", "/v1/i", padded(32_768), result{200, ""}},
		{"call beyond", "/v1/i", padded(32_769), result{400, "too_large"}},
		{"batch at its limit", "/v1/b", paddedBatch(512_000), result{200, ""}},
		{"batch beyond", "/v1/b", paddedBatch(512_001), result{413, "too_large"}},
		{"a bomb", "/v1/b", paddedBatch(50_000_000), result{413, "too_large"}},
		{"a bomb for one call", "/v1/i", padded(50_000_000), result{400, "too_large"}},
		{"a long stream", "/v1/i", strings.Repeat("\x00", 40_000), result{400, "too_large"}},
	} {
		want[c.name] = c.result
		body := compress(c.body)
		if c.name == "a long stream" {
			body = c.body // longer than any stream that may be, whatever is in it
		}
		a := s.post(t, c.path, body, with("Content-Encoding", "gzip"))
		_, code, _ := strings.Cut(a.body, `"code":"`)
		code, _, _ = strings.Cut(code, `"`)
		got[c.name] = result{a.status, code}
		if a.status == http.StatusOK {
			stored++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	s.stored(t, stored)
}
