package definition

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	// MaxIDBytes is the length that an id may have at most.
	MaxIDBytes = 128
	maxName    = 256
	wantID     = "an id: lower-case letters, digits and single underscores between them, 1 to 128 bytes"
)

// ReservedID is the id of the built-in source from which the calls come that tell of
// audiences and computed traits. Nothing else may have it.
const ReservedID = "personas"

// SnakeCase returns the id that a name stands for: in compatibility form and without
// diacritics, in lower case, with an underscore where a capital follows a small letter
// and for each run of other than letters and digits, but not around. It is its own
// snake_case.
func SnakeCase(name string) string {
	var b strings.Builder
	var before rune
	gap := false
	for _, r := range letters(name) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			gap = true
			continue
		}
		if b.Len() > 0 && (gap || unicode.IsLower(before) && unicode.IsUpper(r)) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
		before, gap = r, false
	}
	return b.String()
}

// letters folds what is written in several ways into one: compatibility forms, letters
// with diacritics, and the sharp s.
func letters(name string) string {
	name = strings.NewReplacer("ß", "ss", "ẞ", "SS").Replace(norm.NFKC.String(name))
	bare := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
	return norm.NFC.String(bare)
}

// ValidID tells whether an audience or a computed trait may have an id, which one that is
// reserved is too.
func ValidID(id string) bool {
	return id != "" && len(id) <= MaxIDBytes && SnakeCase(id) == id
}
