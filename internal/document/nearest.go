package document

import (
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// mostEdits is how many letters a misspelt key may differ by from the one that is meant.
const mostEdits = 2

// Suggestion says what was expected instead of an unknown key: the nearest
// known one, or all of them when none is near.
func Suggestion(key string, known []string) string {
	if near := Nearest(key, known); near != "" {
		return near
	}
	return "one of " + strings.Join(known, ", ")
}

// Nearest returns the known word that a misspelt one most likely means, the first of
// several; empty without one.
func Nearest(word string, known []string) string {
	near, least := "", mostEdits+1
	for _, k := range known {
		if edits := terminal.Edits(strings.ToLower(word), strings.ToLower(k), mostEdits); edits < least {
			near, least = k, edits
		}
	}
	return near
}
