package rawtext

import (
	"slices"
	"strings"
	"testing"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// nested is value inside n arrays.
func nested(n int, value string) string {
	return strings.Repeat("[", n) + value + strings.Repeat("]", n)
}

func TestCutDeep(t *testing.T) {
	const most = schemas.MaxDepth
	for name, c := range map[string]struct {
		text, want string
		cuts       []int
	}{
		"nothing to cut":       {nested(most, "1"), nested(most, "1"), nil},
		"one level":            {nested(most, "[1]"), nested(most, "0  "), []int{most}},
		"an object":            {nested(most, `{"a":[]}`), nested(most, `0       `), []int{most}},
		"two in one":           {nested(most, `[],{}`), nested(most, `0 ,0 `), []int{most, most + 3}},
		"brackets in strings":  {nested(most, `["]","\"]"],1`), nested(most, `0`+strings.Repeat(" ", len(`"]","\"]"]`))+`,1`), []int{most}},
		"strings before":       {`{"[\\":` + nested(most-1, "[]") + `}`, `{"[\\":` + nested(most-1, "0 ") + `}`, []int{most - 1 + len(`{"[\\":`)}},
		"never closed":         {strings.Repeat("[", most+9), strings.Repeat("[", most+9), nil},
		"more closed than not": {"]]]]" + nested(most, "1"), "]]]]" + nested(most, "1"), nil},
		"ends in an escape":    {`"\`, `"\`, nil},
	} {
		text := []byte(c.text)
		if cuts := CutDeep(text); !slices.Equal(cuts, c.cuts) || string(text) != c.want {
			t.Errorf("%s: got %v, %s", name, cuts, strings.Trim(string(text), "[]"))
		}
	}
}

// FuzzCutDeep shows that what was JSON stays JSON, and is no deeper than it may
// be.
func FuzzCutDeep(f *testing.F) {
	f.Add(`{"a":[1,{"b":"]"}]}`, uint16(600))
	f.Add(`"\\"`, uint16(512))
	f.Fuzz(func(t *testing.T, inner string, levels uint16) {
		if _, err := stablejson.Append(nil, []byte(inner)); err != nil {
			return
		}
		text := []byte(nested(int(levels)%2000, inner))
		if cuts := CutDeep(text); len(cuts) > 0 && !slices.IsSorted(cuts) {
			t.Fatalf("cuts %v", cuts)
		}
		if _, err := stablejson.Append(nil, text); err != nil {
			t.Fatalf("%d levels of %q: %v", levels, inner, err)
		}
	})
}
