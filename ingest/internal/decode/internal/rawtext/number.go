package rawtext

import (
	"bytes"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// WholeNumber returns the last value of key in the object text as it stands
// there, and nil when it is written with a fraction or an exponent.
func WholeNumber(text []byte, key string) []byte {
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
