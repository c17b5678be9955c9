package ingest

import (
	"net/http"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/test/testkit"
)

// get asks for settings.
func (s *stage) get(t *testing.T, path string, options ...func(*http.Request)) reply {
	t.Helper()
	return s.post(t, path, "", append([]func(*http.Request){method(http.MethodGet), noAuth}, options...)...)
}

func TestSettings(t *testing.T) {
	s := start(t, testkit.Fake(t))
	segment := `{"integrations":{"Segment.io":{"apiKey":"wk_app","apiHost":"` + s.Addr() + `/v1"}},"metrics":{"sampleRate":0}}`
	const rudder = `{"source":{"id":"app","name":"app","writeKey":"wk_app","enabled":true,"workspaceId":"workspace","destinations":[],"config":{"statsCollection":{"errors":{"enabled":false},"metrics":{"enabled":false}}}}}`
	const refused = `{"success":false,"code":"invalid_write_key","message":"no settings: the write key is missing, unknown or disabled","error":"no settings: the write key is missing, unknown or disabled"}`
	basic := func(r *http.Request) { r.SetBasicAuth("wk_app", "") }
	for _, c := range []struct {
		path    string
		options []func(*http.Request)
		status  int
		want    string
	}{
		{"/v1/projects/wk_app/settings", nil, 200, segment},
		{"/projects/wk_app/settings", nil, 200, segment},
		{"/sourceConfig/?p=npm&v=3&writeKey=wk_app", nil, 200, rudder},
		{"/sourceConfig", []func(*http.Request){basic}, 200, rudder},
		{"/v1/projects/wk_nobody/settings", nil, 404, refused},
		{"/v1/projects/" + disabledKey + "/settings", nil, 404, refused},
		{"/v1/projects//settings", nil, 404, refused},
		{"/v1/projects/wk_nobody/settings", []func(*http.Request){basic}, 404, refused},
		{"/sourceConfig/", nil, 404, refused},
		{"/sourceConfig/?writeKey=wk_app", []func(*http.Request){with("Authorization", "Basic eDo=")}, 404, refused},
		{"/v1/projects/wk_app/settings", []func(*http.Request){method(http.MethodPost)}, 404, errorBody("not_found", "no such path: calls go to /v1/batch, /v1/import, or /v1/ with the type of one call")},
		{"/v1/projects/wk_app/settings", []func(*http.Request){method(http.MethodHead)}, 200, ""},
	} {
		got := s.get(t, c.path, append(c.options, with("Origin", shop))...)
		if got.status != c.status || got.body != c.want {
			t.Errorf("%s: got %d %s\nwant %d %s", c.path, got.status, got.body, c.status, c.want)
		}
		h := got.header
		if h.Get("Access-Control-Allow-Origin") != shop || h.Get("Vary") != "Origin" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", c.path, h)
		}
		if kept := h.Get("Cache-Control") == "max-age=60" && h.Get("ETag") != ""; kept != (c.status == http.StatusOK) {
			t.Errorf("%s: %v", c.path, h)
		}
	}
	if strings.Contains(s.log.String(), "wk_nobody") || !strings.Contains(s.log.String(), "compare the client's write key") {
		t.Errorf("logged %s", s.log)
	}
}

func TestSettingsThatAClientHas(t *testing.T) {
	s := start(t, testkit.Fake(t), func(c *Config) { c.PublicHost = "collect.example.com" })
	const path = "/v1/projects/wk_app/settings"
	first := s.get(t, path)
	if !strings.Contains(first.body, `"apiHost":"collect.example.com/v1"`) {
		t.Errorf("got %s", first.body)
	}
	for known, want := range map[string]int{
		first.header.Get("ETag"): 304, "W/" + first.header.Get("ETag"): 304, `"x", ` + first.header.Get("ETag"): 304, "*": 304, `"x"`: 200, "": 200,
	} {
		if got := s.get(t, path, with("If-None-Match", known)); got.status != want || (got.body == "") != (want == 304) || got.header.Get("ETag") != first.header.Get("ETag") {
			t.Errorf("%s: got %d %s %v, want %d", known, got.status, got.body, got.header, want)
		}
	}
	if got := testkit.Counters(t, s.registry)["anabranch_ingest_requests_total 304"]; got != 4 {
		t.Errorf("counted %v", got)
	}
}

// TestWrongKeysOfSettingsCount has them under the same bound as those of calls.
func TestWrongKeysOfSettingsCount(t *testing.T) {
	s := start(t, testkit.Fake(t), func(c *Config) { c.BadKeysPerMinute = 1 })
	for _, want := range []int{404, 429} {
		if got := s.get(t, "/v1/projects/wk_nobody/settings"); got.status != want {
			t.Errorf("got %d %s, want %d", got.status, got.body, want)
		}
	}
	if got := s.get(t, "/v1/projects/wk_app/settings"); got.status != 200 {
		t.Errorf("a good key: got %d %s", got.status, got.body)
	}
}

func TestAPathWithItsVersionTwiceIsToldOnce(t *testing.T) {
	s := start(t, testkit.Brokers(t))
	for range 3 {
		if got := s.post(t, "/v1/v1/i", oneCall); got.body != success {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
	s.stored(t, 3)
	if n := strings.Count(s.log.String(), "leave /v1 out of the endpoint"); n != 1 {
		t.Errorf("told %d times: %s", n, s.log)
	}
}
