package decode

import (
	"bytes"
	"slices"

	"github.com/anabranch/anabranch/ingest/internal/decode/internal/rawtext"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// exactDigits is how many digits a float64 always holds. An id of more would be
// rounded with all other numbers, and two users whose ids differ in the last
// digit would become one; so would two calls whose messageIds do.
const exactDigits = 15

// ids are the keys of a call under which numbers keep their digits.
var ids = []string{keyUserID, keyAnonymousID, keyGroupID, keyPreviousID, keyMessageID}

// keepDigits replaces every id that is a long whole number by the string of its
// digits as they stand in text, the call's own. A messageId of more digits than
// it may have characters stays the number that it is.
func (c *call) keepDigits(text []byte) {
	if !slices.ContainsFunc(ids, c.isRounded) {
		return
	}
	for i, digits := range rawtext.WholeNumbers(text, ids) {
		key := ids[i]
		if digits != nil && c.isRounded(key) && (key != keyMessageID || len(digits) <= schemas.MaxMessageIDChars) {
			c.members.Set(key, stablejson.AppendString(nil, string(digits)))
		}
	}
}

// isRounded reports whether there is a number under key that may not be the one
// that was written.
func (c *call) isRounded(key string) bool {
	value := c.members.Get(key)
	return stablejson.KindOf(value) == stablejson.KindNumber && !isExact(value)
}

// isExact reports whether a number in its stable form is the one that was written.
// With an exponent, which a whole number has from 22 digits on, few digits say
// nothing: 99999999999999999999999 is printed as 1e+23.
func isExact(number []byte) bool {
	return len(number) <= exactDigits && bytes.IndexByte(number, 'e') < 0
}
