package schemas_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/anabranch/anabranch/schemas"
)

func TestParseType(t *testing.T) {
	t.Parallel()
	for _, typ := range allTypes {
		if got, ok := schemas.ParseType(string(typ)); !ok || got != typ {
			t.Errorf("ParseType(%s) = %q, %t", typ, got, ok)
		}
	}
	for _, s := range []string{"", "Track", "track ", "t", "batch", "import"} {
		if got, ok := schemas.ParseType(s); ok || got != "" {
			t.Errorf("ParseType(%q) = %q, %t, want none", s, got, ok)
		}
	}
}

// Reasons and codes become labels of metrics and words in topics and answers:
// each is one word, and there is one of each.
func TestWordsAreLabels(t *testing.T) {
	t.Parallel()
	label := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	reasons, codes := schemas.Reasons(), schemas.Codes()
	words := make([]string, 0, len(reasons)+len(codes))
	for _, reason := range reasons {
		words = append(words, string(reason))
	}
	for _, code := range codes {
		words = append(words, string(code))
	}
	for _, word := range words {
		if !label.MatchString(word) {
			t.Errorf("%q is no label", word)
		}
	}
	slices.Sort(words)
	if len(slices.Compact(slices.Clone(words))) != len(words) {
		t.Errorf("a word stands twice in %v", words)
	}
}
