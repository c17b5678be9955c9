package decode

import (
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// mostEdits is how many letters a misspelt key may differ by from the one that is meant.
const mostEdits = 2

// suggestion says what was expected instead of an unknown key: the nearest
// known one, or all of them when none is near.
func suggestion(key string, known []string) string {
	for _, k := range known {
		if terminal.Edits(strings.ToLower(key), strings.ToLower(k), mostEdits) <= mostEdits {
			return k
		}
	}
	return "one of " + strings.Join(known, ", ")
}
