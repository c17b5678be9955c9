package member

import (
	"bytes"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// Shape returns what validation calls the kind of a stable value.
func Shape(value []byte) schemas.Shape {
	switch stablejson.KindOf(value) {
	case stablejson.KindNull:
		return schemas.ShapeNull
	case stablejson.KindBool:
		return schemas.ShapeBool
	case stablejson.KindNumber:
		return schemas.ShapeNumber
	case stablejson.KindString:
		return schemas.ShapeString
	case stablejson.KindArray:
		return schemas.ShapeArray
	case stablejson.KindObject:
		return schemas.ShapeObject
	default:
		return schemas.ShapeAbsent
	}
}

// Type returns the type that a stable value names, known or not; "" when it is no
// string.
func Type(value []byte) schemas.Type {
	if stablejson.KindOf(value) == stablejson.KindString {
		if known, ok := schemas.ParseType(string(value[1 : len(value)-1])); ok {
			return known
		}
	}
	text, _ := stablejson.Text(value)
	return schemas.Type(text)
}

// ID returns an id as it is stored: a non-empty stable JSON string, or nil
// when the call has none, which null and "" say too (protocol, 6). A number
// becomes the string that ECMAScript prints; its stable form is that already,
// and a long one has become a string before.
// False is a value of any other kind: to take it for absent would file the call
// under somebody else. scratch is memory that the result may use.
func ID(value, scratch []byte) (id []byte, ok bool) {
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

// AppendText appends the text of a stable JSON string.
func AppendText(dst, value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return append(dst, value[1:len(value)-1]...)
	}
	text, _ := stablejson.Text(value)
	return append(dst, text...)
}

// EvenMap makes the map under key of a call an object where it means to be one
// and returns its shape: null is absent, and PHP sends an empty map as [].
func EvenMap(call *stablejson.Object, key string) schemas.Shape {
	value := call.Get(key)
	switch string(value) {
	case "null":
		call.Delete(key)
		return schemas.ShapeAbsent
	case "[]":
		call.Set(key, []byte("{}"))
		return schemas.ShapeObject
	default:
		return Shape(value)
	}
}
