package workspace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
)

func TestNothingShowsSecrets(t *testing.T) {
	t.Parallel()
	s := wstest.Secretive()
	d := s.Destinations()[0]
	wstest.ShowsNoSecret(t, map[string]any{
		"source": s.Sources()[0], "sources": s.Sources(),
		"destination": *d, "destination pointer": d, "destinations": s.Destinations(),
		"endpoint": d.Endpoints[0], "endpoint pointer": &d.Endpoints[0], "endpoints": d.Endpoints,
		"header": d.Endpoints[0].Headers[0], "headers": d.Endpoints[0].Headers,
		"document": workspace.Document{Sources: s.Sources(), Destinations: []workspace.Destination{*d}},
		"entries":  s.Entries(workspace.KindDestination)["crm"].Interface(),
		"snapshot": s, "live": workspace.NewLive(s), "changes": workspace.Diff(workspace.NewSnapshot(nil, nil), s),
	})
}

func TestEndpointShowsWhatItMay(t *testing.T) {
	t.Parallel()
	e := wstest.Secretive().Destinations()[0].Endpoints[0]
	const want = "https://h.example.com/hooks [Authorization]"
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{e.String(), fmt.Sprint(e), fmt.Sprintf("%#v", e), e.LogValue().String(), strings.Trim(string(text), `"`)} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (workspace.Endpoint{URL: "http://h/p"}).String(); got != "http://h/p" {
		t.Errorf("without headers: %s", got)
	}
}

func TestSafeURL(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://h/a/b":                "https://h/a/b",
		"https://u:p@h:8443/a?b=c":     "https://h:8443/a",
		"https://h?":                   "https://h",
		"https://h/#f":                 "https://h/",
		"https://u:%zz@h/":             "[redacted]",
		"https://h/" + string(rune(7)): "[redacted]",
	} {
		if got := (workspace.Endpoint{URL: in}).SafeURL(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSnapshotSaysItsSize(t *testing.T) {
	t.Parallel()
	s := wstest.Secretive()
	const want = "1 source, 2 destinations"
	for _, got := range []string{s.String(), fmt.Sprintf("%+v", s), s.LogValue().String()} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSecretsAreThere makes sure that the tests above had something to find.
func TestSecretsAreThere(t *testing.T) {
	t.Parallel()
	d := wstest.Secretive().Destinations()[0]
	for _, s := range []schemas.Secret{d.SharedSecret, d.Endpoints[0].Headers[0].Value} {
		if s.Reveal() != wstest.Canary {
			t.Error("a secret is lost")
		}
	}
}
