package encode

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// walk passes the bytes of a JSON text to each, without white space between its
// tokens, and how deeply they nest.
func walk(text []byte, each func(c byte, depth int)) {
	depth, quoted, escaped := 0, false, false
	for _, c := range text {
		switch {
		case quoted:
			quoted = escaped || c != '"'
			escaped = !escaped && c == '\\'
		case c == '"':
			quoted = true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		each(c, depth)
	}
}

// measure returns how many bytes a text has without white space, and its levels.
func measure(text []byte) (size, levels int) {
	walk(text, func(_ byte, depth int) {
		size++
		levels = max(levels, depth)
	})
	return size, levels
}

var (
	rawType       = reflect.TypeFor[json.RawMessage]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// writesItself reports whether a method says what values of a type are written as.
func writesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t) // has the methods of t as well
	return p.Implements(marshalerType) || p.Implements(textType)
}

// weigh takes the least that encoding/json would write for a value from room, and
// stops below 0. It counts nothing where it can't be sure: what has a method for it,
// and embedded structs, whose fields may be hidden by others.
func weigh(v reflect.Value, room, depth int) int {
	if room < 0 || depth > MaxDepth || !v.IsValid() {
		return room
	}
	switch {
	case v.Type() == rawType:
		size, _ := measure(v.Bytes())
		return room - size
	case writesItself(v.Type()):
		return room
	}
	switch v.Kind() {
	case reflect.String:
		return room - v.Len()
	case reflect.Pointer, reflect.Interface:
		return weigh(v.Elem(), room, depth+1)
	case reflect.Slice, reflect.Array:
		return weighList(v, room, depth)
	case reflect.Map:
		for i := v.MapRange(); room >= 0 && i.Next(); {
			room = weigh(i.Value(), weigh(i.Key(), room-1, depth+1), depth+1)
		}
		return room
	case reflect.Struct:
		return weighStruct(v, room, depth)
	default:
		return room - 1
	}
}

func weighList(v reflect.Value, room, depth int) int {
	if v.Type().Elem().Kind() == reflect.Uint8 { // base64 is longer
		return room - v.Len()
	}
	for i := 0; room >= 0 && i < v.Len(); i++ {
		room = weigh(v.Index(i), room-1, depth+1)
	}
	return room
}

func weighStruct(v reflect.Value, room, depth int) int {
	room -= 2 // {}
	for i := 0; room >= 0 && i < v.NumField(); i++ {
		field := v.Type().Field(i)
		tag := field.Tag.Get("json")
		if field.Anonymous || !field.IsExported() || tag == "-" || strings.Contains(tag, ",omit") && v.Field(i).IsZero() {
			continue
		}
		room = weigh(v.Field(i), room, depth+1)
	}
	return room
}
