package decode

import (
	"testing"
	"unicode/utf8"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/schematest"
)

// FuzzAgree gives any text to the schemas and to the decoder, as a single call
// and as a batch. A schema is of JSON texts, which are UTF-8; FuzzDecode has the
// others.
func FuzzAgree(f *testing.F) {
	g := schematest.New(4)
	for kind, call := range callTypes {
		for range 4 {
			f.Add(g.Call(call, false), byte(kind))
		}
	}
	for range 8 {
		f.Add(g.Batch(4), byte(len(callTypes)))
	}
	d := new(Decoder)
	f.Fuzz(func(t *testing.T, text []byte, kind byte) {
		if !utf8.Valid(text) || len(text) > 2*schemas.MaxCallBytes {
			return
		}
		if at := int(kind) % (len(callTypes) + 1); at < len(callTypes) {
			checkAgreement(t, d, callTypes[at], text)
		} else {
			checkBatchAgreement(t, d, text)
		}
	})
}
