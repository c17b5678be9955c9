package decode

import (
	"bytes"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// exactDigits is how many digits a float64 always holds. An id of more would be
// rounded with all other numbers, and two users whose ids differ in the last
// digit would become one.
const exactDigits = 15

// keepDigits replaces every id that is a long whole number by the string of its
// digits as they stand in text, the call's own.
func (c *call) keepDigits(text []byte) {
	for _, key := range [...]string{keyUserID, keyAnonymousID, keyGroupID, keyPreviousID} {
		value := c.members.Get(key)
		if len(value) <= exactDigits || stablejson.KindOf(value) != stablejson.KindNumber {
			continue
		}
		if digits := wholeNumber(text, key); digits != nil {
			c.members.Set(key, stablejson.AppendString(nil, string(digits)))
		}
	}
}

// wholeNumber returns the last value of key in the object text as it stands
// there, and nil when it is written with a fraction or an exponent.
func wholeNumber(text []byte, key string) []byte {
	var r stablejson.Reader
	r.Reset(text)
	var found []byte
	err := r.Members(func(k []byte) error {
		from := len(text)
		if string(k) == key && r.Kind() == stablejson.KindNumber {
			from = r.Offset()
		}
		err := r.Skip()
		if from < len(text) {
			found = text[from:r.Offset()]
		}
		return err
	})
	if err != nil {
		return nil
	}
	if bytes.ContainsAny(found, ".eE") {
		return nil
	}
	return found
}
