package wstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// Equal compares workspaces by what they hold.
func Equal(tb testing.TB, got, want *workspace.Snapshot) {
	tb.Helper()
	revealed := cmp.Transformer("reveal", func(s schemas.Secret) string { return s.Reveal() })
	if diff := cmp.Diff(want.Sources(), got.Sources()); diff != "" {
		tb.Errorf("sources (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Destinations(), got.Destinations(), revealed); diff != "" {
		tb.Errorf("destinations (-want +got):\n%s", diff)
	}
	// A file knows no versions.
	current := cmp.Transformer("current", func(e workspace.Edition) bool { return !e.Deleted })
	if diff := cmp.Diff(want.Audiences(), got.Audiences(), current); diff != "" {
		tb.Errorf("audiences (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.Traits(), got.Traits(), current); diff != "" {
		tb.Errorf("traits (-want +got):\n%s", diff)
	}
	const of = workspace.KindIdentity
	if was, is := want.Entries(of), got.Entries(of); len(was) != len(is) || len(was) > 0 && !cmp.Equal(was[workspace.SettingsID].Interface(), is[workspace.SettingsID].Interface()) {
		tb.Errorf("%s: %v, want %v", of, is, was)
	}
}

// ShowsNoSecret fails for each of the values that shows the canary when it is
// printed, logged or marshalled.
func ShowsNoSecret(tb testing.TB, values map[string]any) {
	tb.Helper()
	for name, v := range values {
		for how, text := range renderings(v) {
			if strings.Contains(text, Canary) {
				tb.Errorf("%s, %s: %s", name, how, text)
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
		} else if strings.Contains(fmt.Sprintf(verb, v), fmt.Sprintf(verb, Canary)) {
			texts[verb] = Canary
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
