package definition

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
)

// operand is a kind of what an operator compares with.
type operand byte

const (
	aScalar operand = iota
	someScalars
	aNumber
	aText
	aBool
	aTime
	aDuration
)

// operator is an operator of the grammar.
type operator struct {
	op   Op
	with operand
	desc string
}

// operators are all of them, in the order in which they are written.
func operators() []operator {
	return []operator{
		{Eq, aScalar, "is the same, of the same type"},
		{Ne, aScalar, "is another, or missing"},
		{Gt, aNumber, "is a greater number"},
		{Gte, aNumber, "is a number at least as great"},
		{Lt, aNumber, "is a smaller number"},
		{Lte, aNumber, "is a number at most as great"},
		{In, someScalars, "is one of them"},
		{NotIn, someScalars, "is none of them, or missing"},
		{Contains, aScalar, "is a list with it, or a string with it as a part"},
		{NotContains, aScalar, "is not, or missing"},
		{StartsWith, aText, "is a string that begins with it"},
		{EndsWith, aText, "is a string that ends with it"},
		{Exists, aBool, "whether there is a value; null is none"},
		{Before, aTime, "is an earlier time"},
		{After, aTime, "is a later time"},
		{WithinLast, aDuration, "is a time in the last so long"},
		{BeforeLast, aDuration, "is a time longer ago"},
		{WithinNext, aDuration, "is a time in the next so long"},
		{AfterNext, aDuration, "is a time later than that"},
	}
}

// domain is what a value may be, and so by which operators it can be compared.
type domain struct {
	name    string // of what is compared
	ops     []Op   // nil: all
	numbers bool   // it is compared with numbers alone
	integer bool   // whole ones, of at least zero
}

var (
	anyValue  = &domain{name: "a value"}
	number    = &domain{name: "a number", ops: []Op{Eq, Ne, Gt, Gte, Lt, Lte, In, NotIn, Exists}, numbers: true}
	count     = &domain{name: "a number of events", ops: []Op{Eq, Ne, Gt, Gte, Lt, Lte, In, NotIn}, numbers: true, integer: true}
	listValue = &domain{name: "a list of values", ops: []Op{Contains, NotContains}}
	seenTime  = &domain{name: "the time at which a user was seen", ops: []Op{Before, After, WithinLast, BeforeLast}}
)

func (d *domain) allows(op Op) bool { return d.ops == nil || slices.Contains(d.ops, op) }

func (d *domain) keys() []string {
	var keys []string
	for _, o := range operators() {
		if d.allows(o.op) {
			keys = append(keys, string(o.op))
		}
	}
	return keys
}

func (d *domain) notation() notation {
	var want []string
	if d.allows(Eq) {
		want = append(want, d.scalar())
	}
	if d.allows(In) {
		want = append(want, "a list of those")
	}
	operations := "a mapping of operators such as {gte: 10, lt: 20}, all of which hold"
	if d.ops != nil {
		operations = "a mapping of operators, all of which hold: " + strings.Join(d.keys(), ", ")
	}
	want = append(want, operations)
	return notation{strings.Join(want, ", or "), "test", object{"$ref": "#/definitions/" + d.part()}}
}

// part is the name of the domain's tests in the schema.
func (d *domain) part() string {
	switch d {
	case number:
		return "numberTest"
	case count:
		return "countTest"
	case seenTime:
		return "timeTest"
	case listValue:
		return "listTest"
	default:
		return "test"
	}
}

// scalar says what a value is compared with.
func (d *domain) scalar() string {
	switch {
	case d.integer:
		return "a whole number from 0 on"
	case d.numbers:
		return "a number"
	default:
		return "text, a number, true or false"
	}
}

// test reads a test: a scalar is for eq, a list is for in.
func (p place) test(d *domain) Test {
	var test Test
	switch document.KindOf(p.node) {
	case "a mapping":
		return p.operations(d)
	case "a list":
		if d.allows(In) {
			return append(test, Operation{Op: In, Values: p.scalars(d)})
		}
	case "text":
		if d.allows(Eq) {
			return append(test, Operation{Op: Eq, Values: p.value(d)})
		}
	}
	p.expected(d.notation().want)
	return nil
}

// operations reads a mapping of operators, in their order.
func (p place) operations(d *domain) Test {
	entries, _ := p.entries(d.notation().want, document.MemberPath)
	if len(entries) == 0 {
		p.report("an empty mapping", d.notation().want)
	}
	var test Test
	for _, o := range operators() {
		for _, e := range entries {
			if e.key.node.Value == string(o.op) && d.allows(o.op) {
				test = append(test, e.value.operation(o, d))
			}
		}
	}
	for _, e := range entries {
		name := e.key.node.Value
		switch {
		case slices.Contains(d.keys(), name):
		case slices.ContainsFunc(operators(), func(o operator) bool { return string(o.op) == name }):
			e.key.report(name+" of "+d.name, "one of "+strings.Join(d.keys(), ", "))
		default:
			e.key.stranger(d.keys())
		}
	}
	return test
}

func (p place) operation(o operator, d *domain) Operation {
	op := Operation{Op: o.op}
	switch o.with {
	case aScalar:
		op.Values = p.value(d)
	case aNumber:
		if !d.numbers {
			d = number
		}
		op.Values = p.value(d)
	case someScalars:
		op.Values = p.scalars(d)
	case aText:
		text, _ := p.text("text")
		op.Values = []Value{{Kind: Text, Text: text}}
	case aBool:
		op.Values = []Value{{Kind: Bool, Bool: p.boolean()}}
	case aTime:
		op.At = p.time()
	case aDuration:
		op.For = p.duration()
	}
	return op
}

// scalars reads a list of values, ascending.
func (p place) scalars(d *domain) []Value {
	var values []Value
	seen := make(map[Value]bool)
	for _, item := range p.items("values: " + d.scalar()) {
		for _, v := range item.value(d) {
			if seen[v] {
				item.report(document.Shown(item.node)+" repeated", "each value once")
				continue
			}
			seen[v] = true
			values = append(values, v)
		}
	}
	slices.SortFunc(values, func(a, b Value) int {
		truth := func(v Value) int { return map[bool]int{true: 1}[v.Bool] }
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Number, b.Number), strings.Compare(a.Text, b.Text), cmp.Compare(truth(a), truth(b)))
	})
	return values
}

// jsonNumber is a number as JSON writes it. YAML has others, of which nobody knows what
// they are: 010, 1_000, 0x10.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// maxExact is the first whole number that is not told apart from the next: those of calls
// are read as float64 too.
const maxExact = 1 << 53

// value reads one value; without one it has reported why.
func (p place) value(d *domain) []Value {
	switch {
	case document.KindOf(p.node) != "text" && p.node.Kind == yaml.ScalarNode:
		p.expected(d.scalar() + "; {exists: false} asks for no value")
	case document.KindOf(p.node) != "text":
		p.expected(d.scalar())
	case p.node.Tag == "!!int" || p.node.Tag == "!!float":
		return p.number(d)
	case d.numbers:
		p.expected(d.scalar())
	case p.node.Tag == "!!bool":
		return []Value{{Kind: Bool, Bool: strings.EqualFold(p.node.Value, "true")}}
	default:
		return []Value{{Kind: Text, Text: p.node.Value}}
	}
	return nil
}

func (p place) number(d *domain) []Value {
	n, err := strconv.ParseFloat(p.node.Value, 64)
	switch {
	case !jsonNumber.MatchString(p.node.Value) || err != nil:
		p.expected("a number as JSON writes it, such as 10, -1 or 2.5; quotes make text of it")
	case math.Abs(n) >= maxExact && n == math.Trunc(n):
		p.expected(fmt.Sprintf("a number of at most %d, up to which all are told apart; quotes make text of it", maxExact-1))
	case d.integer && (n < 0 || n != math.Trunc(n)):
		p.expected(d.scalar())
	default:
		return []Value{{Kind: Number, Number: n + 0}} // of a negative zero, zero
	}
	return nil
}

func wantWhole(most int) string { return fmt.Sprintf("a whole number, 1 to %d", most) }

// whole reads a whole number from 1 on.
func (p place) whole(most int) int {
	n, err := strconv.Atoi(p.node.Value)
	if p.node.Tag != "!!int" || !jsonNumber.MatchString(p.node.Value) || err != nil || n < 1 || n > most {
		p.expected(wantWhole(most))
		return 0
	}
	return n
}
