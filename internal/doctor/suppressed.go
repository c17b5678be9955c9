package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// suppressed makes the checks of how the topic regulations knows suppressed users. Few
// need to read it, so it is no fault that somebody may not.
func (set *Settings) suppressed(ctx context.Context) []Finding {
	byKey, err := set.Suppressions(ctx)
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		f := &findings{check: CheckUsers}
		f.ok("", "our principal may not read the topic regulations, so it was not looked at under which keys users are suppressed")
		return f.all
	}
	if err != nil {
		return []Finding{unable(CheckUsers, err)}
	}
	return judgeSuppressed(byKey, set.SuppressionKeys, set.Data != "")
}

// judgeSuppressed judges the keys that users are suppressed under: own are those of this
// process, and private is whether nobody but the user of this machine can read the topic.
func judgeSuppressed(byKey map[string]int, own []string, private bool) []Finding {
	f := &findings{check: CheckUsers}
	const guess = "whoever may read the topic regulations can tell whether an id that they know or guess is suppressed"
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		of := fmt.Sprintf("%d users are", byKey[key])
		if byKey[key] == 1 {
			of = "1 user is"
		}
		switch {
		case key == "" && len(own) > 0:
			f.warn("", of+" suppressed by a hash without a key: "+guess,
				"nothing: with SUPPRESSION_KEY each of them gets a hash with the key when the id is seen again")
		case key == "" && !private:
			f.warn("", of+" suppressed by a hash without a key: "+guess,
				"set SUPPRESSION_KEY where ingest, router, personas and `anabranch dead-letters redrive` run")
		case key == "":
			f.ok("", of+" suppressed by a hash without a key (SUPPRESSION_KEY), on this machine")
		case len(own) == 0:
			f.ok("", of+" suppressed under the key "+key)
		case !slices.Contains(own, key):
			f.problem("", of+" suppressed under the key "+key+", which SUPPRESSION_KEY lacks here: where ingest lacks it too, their calls are not dropped",
				"set SUPPRESSION_KEY to a list that has this key; the keys here are "+strings.Join(own, ", "))
		case key != own[0]:
			f.ok("", of+" suppressed under the earlier key "+key+", which has to stay in SUPPRESSION_KEY")
		default:
			f.ok("", of+" suppressed under the key "+key)
		}
	}
	if len(byKey) == 0 && len(own) == 0 {
		f.ok("", "nobody is suppressed; without SUPPRESSION_KEY a suppressed user is known by a hash that has no key")
	}
	return f.otherwise("nobody is suppressed")
}
