package doctor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestJudgeSuppressed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		byKey   map[string]int
		own     []string
		private bool
		level   Level
		want    string
	}{
		"nobody, no key":        {nil, nil, false, OK, "without SUPPRESSION_KEY"},
		"nobody":                {nil, []string{"aa"}, false, OK, "nobody is suppressed"},
		"no key":                {map[string]int{"": 2}, nil, false, Warning, "2 users are suppressed by a hash without a key"},
		"no key, own machine":   {map[string]int{"": 2}, nil, true, OK, "on this machine"},
		"some are left":         {map[string]int{"": 1, "aa": 5}, []string{"aa"}, false, Warning, "1 user is suppressed by a hash without"},
		"a key of others":       {map[string]int{"aa": 5}, nil, false, OK, "under the key aa"},
		"our key":               {map[string]int{"aa": 5}, []string{"aa"}, false, OK, "under the key aa"},
		"an earlier key":        {map[string]int{"bb": 5}, []string{"aa", "bb"}, false, OK, "has to stay"},
		"a key that is missing": {map[string]int{"bb": 5}, []string{"aa"}, false, Problem, "SUPPRESSION_KEY lacks here"},
	} {
		found := judgeSuppressed(c.byKey, c.own, c.private)
		if len(found) == 0 || found[0].Level != c.level || !strings.Contains(found[0].Found, c.want) {
			t.Errorf("%s: %+v, want %v and %q", name, found, c.level, c.want)
		}
	}
}

func TestWhoMayNotReadRegulations(t *testing.T) {
	t.Parallel()
	set := Settings{Suppressions: func(context.Context) (map[string]int, error) {
		return nil, fmt.Errorf("fetch: %w", kerr.TopicAuthorizationFailed)
	}}
	if found := set.suppressed(t.Context()); len(found) != 1 || found[0].Level != OK {
		t.Errorf("found %+v, want that it was not looked at", found)
	}
}
