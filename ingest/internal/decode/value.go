package decode

import (
	"bytes"
	"fmt"

	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/schemas"
)

// shapeOf returns what validation calls the kind of a stable value.
func shapeOf(value []byte) schemas.Shape {
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

// typeOf returns the type that a stable value names, known or not; "" when it
// is no string.
func typeOf(value []byte) schemas.Type {
	if stablejson.KindOf(value) == stablejson.KindString {
		if known, ok := schemas.ParseType(string(value[1 : len(value)-1])); ok {
			return known
		}
	}
	text, _ := stablejson.Text(value)
	return schemas.Type(text)
}

// appendText appends the text of a stable JSON string.
func appendText(dst, value []byte) []byte {
	if bytes.IndexByte(value, '\\') < 0 {
		return append(dst, value[1:len(value)-1]...)
	}
	text, _ := stablejson.Text(value)
	return append(dst, text...)
}

// evenMap makes the map under key of a call an object where it means to be one
// and returns its shape: null is absent, and PHP sends an empty map as [].
func evenMap(o *stablejson.Object, key string) schemas.Shape {
	value := o.Get(key)
	switch string(value) {
	case "null":
		o.Delete(key)
		return schemas.ShapeAbsent
	case "[]":
		o.Set(key, []byte("{}"))
		return schemas.ShapeObject
	default:
		return shapeOf(value)
	}
}

func tooLarge(format string, limit int) *schemas.Violation {
	return &schemas.Violation{Code: schemas.CodeTooLarge, Message: fmt.Sprintf(format, limit)}
}
