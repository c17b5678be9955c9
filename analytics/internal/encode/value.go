package encode

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
)

// value writes any value of a map. What maps of properties commonly hold is
// written here; encoding/json takes the rest.
func (w *Writer) value(v any, depth int) error {
	if len(w.buf) > w.limit {
		return ErrTooLarge
	}
	if depth > MaxDepth {
		return ErrTooDeep
	}
	if w.scalar(v) {
		return nil
	}
	switch v := v.(type) {
	case string:
		return w.text(v, 0)
	case map[string]any:
		if v == nil {
			return w.null()
		}
		return w.object(v, depth)
	case []any:
		return list(w, v, depth, (*Writer).value)
	case []string:
		return list(w, v, depth, (*Writer).text)
	case []map[string]any:
		return list(w, v, depth, (*Writer).element)
	case float64:
		return w.float(v)
	case time.Time:
		return w.time(v)
	case json.RawMessage:
		return w.raw(v, depth)
	}
	return w.other(v, depth)
}

// scalar reports whether it knew the value, and has written it.
func (w *Writer) scalar(v any) bool {
	switch v := v.(type) {
	case nil:
		w.buf = append(w.buf, "null"...)
	case bool:
		w.buf = strconv.AppendBool(w.buf, v)
	case int:
		w.buf = strconv.AppendInt(w.buf, int64(v), 10)
	case int64:
		w.buf = strconv.AppendInt(w.buf, v, 10)
	case int32:
		w.buf = strconv.AppendInt(w.buf, int64(v), 10)
	case uint64:
		w.buf = strconv.AppendUint(w.buf, v, 10)
	default:
		return false
	}
	return true
}

func (w *Writer) null() error {
	w.buf = append(w.buf, "null"...)
	return nil
}

func (w *Writer) text(s string, _ int) error {
	if len(s) > w.room() {
		return ErrTooLarge
	}
	w.buf = appendString(w.buf, s)
	return nil
}

func (w *Writer) element(m map[string]any, depth int) error { return w.value(m, depth) }

// list writes a slice; write is the writer of its elements.
func list[T any](w *Writer, values []T, depth int, write func(*Writer, T, int) error) error {
	if values == nil {
		return w.null()
	}
	w.buf = append(w.buf, '[')
	for i, v := range values {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		if err := write(w, v, depth+1); err != nil {
			return within("["+strconv.Itoa(i)+"]", err)
		}
	}
	w.buf = append(w.buf, ']')
	return nil
}

// float writes a number in the form of encoding/json, which is that of
// ECMAScript but for -0.
func (w *Writer) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return w.other(f, 0)
	}
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	w.buf = strconv.AppendFloat(w.buf, f, format, -1, 64)
	if n := len(w.buf); format == 'e' && w.buf[n-2] == '0' && w.buf[n-3] == '-' {
		w.buf = append(w.buf[:n-2], w.buf[n-1]) // e-09 is e-9
	}
	return nil
}

func (w *Writer) time(t time.Time) error {
	if year := t.Year(); year < 0 || year > 9999 {
		return w.other(t, 0) // which says what is wrong with it
	}
	w.buf = append(w.buf, '"')
	w.buf = t.AppendFormat(w.buf, time.RFC3339Nano)
	w.buf = append(w.buf, '"')
	return nil
}

// raw writes JSON without its white space.
func (w *Writer) raw(text json.RawMessage, depth int) error {
	size, levels := measure(text)
	switch {
	case size > w.room():
		return ErrTooLarge
	case depth+levels > MaxDepth:
		return ErrTooDeep
	case !json.Valid(text):
		return w.other(text, depth) // which says what is wrong with it, or writes null
	}
	walk(text, func(c byte, _ int) { w.buf = append(w.buf, c) })
	return nil
}

// other has encoding/json write a value. It calls methods of the value's, and one
// that panics is the fault of this message alone: the caller is a program that
// wanted something counted, and does not end for it.
func (w *Writer) other(v any, depth int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	if weigh(reflect.ValueOf(v), w.room(), 0) < 0 {
		return ErrTooLarge
	}
	text, err := json.Marshal(v)
	if len(text) > w.room() {
		return ErrTooLarge
	}
	if _, levels := measure(text); depth+levels > MaxDepth {
		return ErrTooDeep
	}
	w.buf = append(w.buf, text...)
	return err
}
