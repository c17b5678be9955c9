package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

// secretive returns a workspace whose every secret is the canary.
func secretive() *Snapshot {
	return NewSnapshot(
		[]Source{{ID: "web", WriteKeyHash: HashWriteKey(canary), Enabled: true}},
		[]Destination{{
			ID: "crm", Type: TypeWebhooks, Sources: []string{"web"}, Enabled: true, SharedSecret: canary,
			Endpoints: []Endpoint{{
				URL:     "https://user:" + canary + "@h.example.com/hooks?token=" + canary,
				Headers: []Header{{"Authorization", canary}},
			}},
		}},
	)
}

func TestNothingShowsSecrets(t *testing.T) {
	t.Parallel()
	s := secretive()
	d := s.Destinations()[0]
	state := State{Snapshot: s}
	_, refused := Parse("w.yaml", []byte("sources: [{id: A, writeKey: "+canary+"}]\ndestinations: []\n"), Lookup{})
	refusal, _ := errors.AsType[*FileError](refused)
	all := map[string]any{
		"source": s.Sources()[0], "sources": s.Sources(),
		"destination": *d, "destination pointer": d, "destinations": s.Destinations(),
		"endpoint": d.Endpoints[0], "endpoint pointer": &d.Endpoints[0], "endpoints": d.Endpoints,
		"header": d.Endpoints[0].Headers[0], "headers": d.Endpoints[0].Headers,
		"snapshot": s, "state": state, "state pointer": &state,
		"live": NewLive(s), "changes": Diff(NewSnapshot(nil, nil), s),
		"error": refusal, "problems": refusal.Problems,
		"follower settings": FollowerSettings{Live: NewLive(s)},
		"publisher":         &Publisher{},
	}
	for name, v := range all {
		for how, text := range renderings(v) {
			if strings.Contains(text, canary) {
				t.Errorf("%s, %s: %s", name, how, text)
			}
		}
	}
}

// renderings returns the texts that a value can be turned into.
func renderings(v any) map[string]string {
	texts := make(map[string]string)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		// Hexadecimal digits would hide the canary from the search.
		if verb != "%x" {
			texts[verb] = fmt.Sprintf(verb, v)
		} else if strings.Contains(fmt.Sprintf(verb, v), fmt.Sprintf(verb, canary)) {
			texts[verb] = canary
		}
	}
	if text, err := json.Marshal(v); err == nil {
		texts["JSON"] = string(text)
	}
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("m", "v", v)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "v", v, slog.Group("g", "v", v))
	texts["slog"] = out.String()
	return texts
}

func TestEndpointShowsWhatItMay(t *testing.T) {
	t.Parallel()
	e := secretive().Destinations()[0].Endpoints[0]
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
	if got := (Endpoint{URL: "http://h/p"}).String(); got != "http://h/p" {
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
		"https://u:%zz@h/":             redacted,
		"https://h/" + string(rune(7)): redacted,
	} {
		if got := (Endpoint{URL: in}).SafeURL(); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSnapshotSaysItsSize(t *testing.T) {
	t.Parallel()
	s := secretive()
	const want = "1 sources, 1 destinations"
	for _, got := range []string{s.String(), fmt.Sprintf("%+v", s), s.LogValue().String()} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSecretsAreThere makes sure that the tests above had something to find.
func TestSecretsAreThere(t *testing.T) {
	t.Parallel()
	d := secretive().Destinations()[0]
	for _, s := range []schemas.Secret{d.SharedSecret, d.Endpoints[0].Headers[0].Value} {
		if s.Reveal() != canary {
			t.Error("a secret is lost")
		}
	}
}
