package event

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/stablejson"
)

// Test is a test of a value, compiled.
type Test struct{ operations []operation }

type operation struct {
	op     definition.Op
	values []Value
	at     int64 // of Before and After, Unix milliseconds
	span   int64 // of the relative ones, milliseconds
}

// TestOf compiles a test.
func TestOf(t definition.Test) Test {
	operations := make([]operation, len(t))
	for i, o := range t {
		operations[i] = operation{op: o.Op, at: o.At.UnixMilli(), span: o.For.Milliseconds()}
		for _, v := range o.Values {
			operations[i].values = append(operations[i].values, operand(v))
		}
	}
	return Test{operations}
}

func operand(v definition.Value) Value {
	switch v.Kind {
	case definition.Text:
		return Value{kind: stablejson.KindString, text: []byte(v.Text)}
	case definition.Number:
		return NumberValue(v.Number)
	case definition.Bool:
		return Value{kind: stablejson.KindBool, truth: v.Bool}
	default:
		return Value{kind: stablejson.KindNull}
	}
}

// Holds reports whether the test holds for a value at an instant, in Unix milliseconds.
func (t Test) Holds(v Value, now int64) bool {
	for i := range t.operations {
		if !t.operations[i].holds(v, now) {
			return false
		}
	}
	return true
}

// Never is the instant that does not come.
const Never = math.MaxInt64

// Flips returns the first instant after now at which the test's truth for a value is
// another one than at now.
func (t Test) Flips(v Value, now int64) int64 {
	if !t.Relative() {
		return Never
	}
	at, ok := v.instant()
	if !ok {
		return Never
	}
	var edges []int64
	for i := range t.operations {
		if o := &t.operations[i]; o.relative() {
			edges = append(edges, at, at+o.span, at-o.span)
		}
	}
	slices.Sort(edges)
	holds := t.Holds(v, now)
	for _, edge := range edges {
		if edge > now && t.Holds(v, edge) != holds {
			return edge
		}
	}
	return Never
}

// Relative reports whether the truth depends on the instant at which it is asked for.
func (t Test) Relative() bool {
	for i := range t.operations {
		if t.operations[i].relative() {
			return true
		}
	}
	return false
}

// Largest returns the largest number among the operands, 0 if there is none above: all
// numbers above it are alike to the test.
func (t Test) Largest() float64 {
	largest := 0.0
	for _, o := range t.operations {
		for _, v := range o.values {
			if v.kind == stablejson.KindNumber {
				largest = max(largest, v.number)
			}
		}
	}
	return largest
}

func (o *operation) relative() bool {
	switch o.op {
	case definition.WithinLast, definition.BeforeLast, definition.WithinNext, definition.AfterNext:
		return true
	default:
		return false
	}
}

func (o *operation) holds(v Value, now int64) bool {
	switch o.op {
	case definition.Exists:
		return v.Missing() != o.values[0].truth
	case definition.Ne, definition.NotIn:
		return v.Missing() || !o.equalsAny(v)
	case definition.NotContains:
		return v.Missing() || !contains(v, o.values[0])
	default:
		return !v.Missing() && o.holdsFor(v, now)
	}
}

// holdsFor is holds for a value that there is and operators that need one.
func (o *operation) holdsFor(v Value, now int64) bool {
	switch o.op {
	case definition.Eq, definition.In:
		return o.equalsAny(v)
	case definition.Gt, definition.Gte, definition.Lt, definition.Lte:
		order, ok := compare(v, o.values[0])
		return ok && o.ordered(order)
	case definition.Contains:
		return contains(v, o.values[0])
	case definition.StartsWith:
		return bothTexts(v, o.values[0]) && bytes.HasPrefix(v.text, o.values[0].text)
	case definition.EndsWith:
		return bothTexts(v, o.values[0]) && bytes.HasSuffix(v.text, o.values[0].text)
	default:
		at, ok := v.instant()
		return ok && o.holdsAt(at, now)
	}
}

// ordered says whether a comparison of a value with the operand is the one asked for.
func (o *operation) ordered(order int) bool {
	switch o.op {
	case definition.Gt:
		return order > 0
	case definition.Gte:
		return order >= 0
	case definition.Lt:
		return order < 0
	default:
		return order <= 0
	}
}

// holdsAt is holds for operators on instants.
func (o *operation) holdsAt(at, now int64) bool {
	switch o.op {
	case definition.Before:
		return at < o.at
	case definition.After:
		return at > o.at
	case definition.WithinLast:
		return now-o.span < at && at <= now
	case definition.BeforeLast:
		return at <= now-o.span
	case definition.WithinNext:
		return now < at && at <= now+o.span
	case definition.AfterNext:
		return at > now+o.span
	default:
		return false
	}
}

func (o *operation) equalsAny(v Value) bool {
	for i := range o.values {
		if equal(v, o.values[i]) {
			return true
		}
	}
	return false
}

// equal compares a value with an operand, which is a scalar: a number is no text.
func equal(v, operand Value) bool {
	if v.kind != operand.kind || v.isTime {
		return false
	}
	switch v.kind {
	case stablejson.KindBool:
		return v.truth == operand.truth
	case stablejson.KindNumber:
		return v.number == operand.number
	case stablejson.KindString:
		return bytes.Equal(v.text, operand.text)
	default:
		return false
	}
}

// compare orders two numbers, or two texts in code point order.
func compare(v, operand Value) (order int, ok bool) {
	switch {
	case bothTexts(v, operand):
		return bytes.Compare(v.text, operand.text), true
	case v.kind == stablejson.KindNumber && operand.kind == stablejson.KindNumber:
		return cmp.Compare(v.number, operand.number), true
	default:
		return 0, false
	}
}

// contains is membership in a list, and a part of a text.
func contains(v, operand Value) bool {
	if bothTexts(v, operand) {
		return bytes.Contains(v.text, operand.text)
	}
	return elements(v.raw, func(element []byte) bool { return equal(ValueOf(element), operand) })
}

func bothTexts(v, operand Value) bool {
	return v.kind == stablejson.KindString && operand.kind == stablejson.KindString && !v.isTime
}
