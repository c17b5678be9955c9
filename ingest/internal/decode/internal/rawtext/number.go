package rawtext

import (
	"bytes"
	"slices"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// WholeNumbers returns, for each of keys, its last number in the object text as it
// stands there, and nil when there is none or it is written with a fraction or an
// exponent. It is one walk for all: a text may be made for the number of walks.
func WholeNumbers(text []byte, keys []string) [][]byte {
	var r stablejson.Reader
	r.Reset(text)
	found := make([][]byte, len(keys))
	err := r.Members(func(key []byte) error {
		i := slices.Index(keys, string(key))
		if i < 0 || r.Kind() != stablejson.KindNumber {
			return r.Skip()
		}
		from := r.Offset()
		err := r.Skip()
		found[i] = text[from:r.Offset()]
		return err
	})
	if err == nil {
		err = r.End()
	}
	for i, number := range found {
		if err != nil || bytes.ContainsAny(number, ".eE") {
			found[i] = nil
		}
	}
	return found
}
