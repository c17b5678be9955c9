package sdksettings

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAsked(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]struct {
		of  Family
		key string
	}{
		"/v1/projects/k/settings":     {Segment, "k"},
		"/projects/k/settings":        {Segment, "k"},
		"/projects/k/settings/":       {Segment, "k"},
		"/v1/v1/projects/k/settings":  {Segment, "k"},
		"/v1/projects/a%2Fb/settings": {Segment, "a/b"},
		"/v1/projects//settings":      {Segment, ""},
		"/sourceConfig":               {Rudder, ""},
		"/sourceConfig/":              {Rudder, ""},
		"/v1/sourceConfig/":           {Rudder, ""},
		"/v1/projects/settings":       {},
		"/v1/projects/k":              {},
		"/projects":                   {},
		"/v2/projects/k/settings":     {},
		"/sourceconfig":               {},
		"/v1":                         {},
		"/":                           {},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			if of, key := Asked(httptest.NewRequest(method, target, nil)); of != want.of || key != want.key {
				t.Errorf("%s %s: got %v %q, want %v %q", method, target, of, key, want.of, want.key)
			}
		}
		if of, _ := Asked(httptest.NewRequest(http.MethodPost, target, nil)); of != None {
			t.Errorf("POST %s asks for settings", target)
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for want, got := range map[string][]byte{
		`{"integrations":{"Segment.io":{"apiKey":"k\"","apiHost":"collect.example.com:8080/v1"}},"metrics":{"sampleRate":0}}`:                                                                                          ForSegment(`k"`, "collect.example.com:8080"),
		`{"source":{"id":"website","name":"website","writeKey":"k","enabled":true,"workspaceId":"workspace","destinations":[],"config":{"statsCollection":{"errors":{"enabled":false},"metrics":{"enabled":false}}}}}`: ForRudder("k", "website"),
	} {
		if string(got) != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}
