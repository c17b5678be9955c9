package event

import (
	"bytes"
	"strconv"

	"github.com/anabranch/anabranch/internal/stablejson"
)

// Value is one value that tests look at. The zero value is a missing one.
type Value struct {
	kind   stablejson.Kind
	raw    []byte // of a list and an object
	text   []byte // of a string, decoded
	number float64
	truth  bool
	millis int64 // of an instant that was not read from a text
	isTime bool
}

// ValueOf returns the value of stable JSON. Nil and null are a missing one.
func ValueOf(raw []byte) Value {
	v := Value{kind: stablejson.KindOf(raw), raw: raw}
	switch v.kind {
	case stablejson.KindNull, stablejson.KindInvalid:
		return Value{}
	case stablejson.KindBool:
		v.truth = raw[0] == 't'
	case stablejson.KindNumber:
		v.number, _ = Number(raw)
	case stablejson.KindString:
		v.text = textOf(raw)
	default:
	}
	return v
}

// NumberValue returns the value of a number.
func NumberValue(f float64) Value { return Value{kind: stablejson.KindNumber, number: f} }

// InstantValue returns the value of an instant, in Unix milliseconds.
func InstantValue(millis int64) Value {
	return Value{kind: stablejson.KindString, millis: millis, isTime: true}
}

// Missing reports whether there is no value.
func (v Value) Missing() bool { return v.kind == stablejson.KindInvalid }

// instant returns the instant that the value is.
func (v Value) instant() (millis int64, ok bool) {
	switch {
	case v.isTime:
		return v.millis, true
	case v.kind == stablejson.KindString:
		return instant(v.text)
	default:
		return 0, false
	}
}

// Number returns the number of stable JSON; false: it is none.
func Number(raw []byte) (float64, bool) {
	if stablejson.KindOf(raw) != stablejson.KindNumber {
		return 0, false
	}
	const sure = 15 // digits
	if len(raw) <= sure {
		whole := 0
		for i, c := range raw {
			if c < '0' || c > '9' {
				break
			}
			if whole = whole*10 + int(c-'0'); i == len(raw)-1 {
				return float64(whole), true
			}
		}
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// textOf returns the text of a stable JSON string.
func textOf(raw []byte) []byte {
	if len(raw) < len(`""`) {
		return nil
	}
	if inner := raw[1 : len(raw)-1]; bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	if !closed(raw) {
		return nil
	}
	text, _ := stablejson.Text(raw)
	return []byte(text)
}

// closed reports whether raw, a string with escapes in it, is stable: what was not read
// from a record of ours may end in the middle of an escape.
func closed(raw []byte) bool {
	stable, err := stablejson.Append(nil, raw)
	return err == nil && bytes.Equal(stable, raw)
}

// Compare orders two values of stable JSON by their texts, in code point order; a number
// is the text of its digits.
func Compare(a, b []byte) int {
	if order := bytes.Compare(sortKey(a), sortKey(b)); order != 0 {
		return order
	}
	return bytes.Compare(a, b)
}

func sortKey(raw []byte) []byte {
	if stablejson.KindOf(raw) == stablejson.KindString {
		return textOf(raw)
	}
	return raw
}
