package decode

import "github.com/anabranch/anabranch/internal/stablejson"

// coerceID returns an id as it is stored: a non-empty stable JSON string, or nil
// when the call has none, which null and "" say too (protocol, 6). A number
// becomes the string that ECMAScript prints; its stable form is that already,
// and a long one has become a string before (keepDigits).
// False is a value of any other kind: to take it for absent would file the call
// under somebody else. scratch is memory that the result may use.
func coerceID(value, scratch []byte) (id []byte, ok bool) {
	switch stablejson.KindOf(value) {
	case stablejson.KindInvalid, stablejson.KindNull:
		return nil, true
	case stablejson.KindString:
		if len(value) == len(`""`) {
			return nil, true
		}
		return value, true
	case stablejson.KindNumber:
		scratch = append(scratch[:0], '"')
		scratch = append(scratch, value...)
		return append(scratch, '"'), true
	default:
		return nil, false
	}
}
