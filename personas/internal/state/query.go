package state

import (
	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/event"
)

const (
	unique      = definition.Unique
	uniqueCount = definition.UniqueCount
)

// Query is what is asked of a state.
type Query struct {
	Spec    *Spec
	Take    definition.Aggregate
	Window  Window
	AtLeast int // of MostFrequent
}

// Got is the answer to a query. The zero value is a missing one.
type Got struct {
	Number   float64
	isNumber bool
	raw      []byte
	// Empty says that there is nothing that it could have been made of.
	Empty bool
}

// Value returns the answer as tests look at it.
func (g Got) Value() event.Value {
	if g.isNumber {
		return event.NumberValue(g.Number)
	}
	return event.ValueOf(g.raw)
}

// JSON returns the answer as stable JSON; null: missing.
func (g Got) JSON() []byte {
	switch {
	case g.isNumber:
		return stablejson.AppendFloat(nil, g.Number)
	case g.raw == nil:
		return []byte("null")
	default:
		return g.raw
	}
}

// got turns a total into the answer.
func (b *bucket) got(q *Query) Got {
	switch {
	case q.Take == definition.Count:
		return Got{Number: float64(b.n), isNumber: true, Empty: b.n == 0}
	case q.Spec.Content == Sums && b.n == 0, q.Spec.Content != Sums && b.pick == nil:
		return Got{Empty: true}
	case q.Take == definition.Avg:
		return Got{Number: b.sum / float64(b.n), isNumber: true}
	case q.Take == definition.Sum:
		return Got{Number: b.sum, isNumber: true}
	default:
		return Got{raw: b.pick.raw, Empty: b.pick.raw == nil}
	}
}

// Get answers a query at an instant. St is nil for a user without events.
func (q *Query) Get(st State, now int64) Got {
	if st == nil {
		switch q.Take {
		case definition.Count, uniqueCount:
			return Got{isNumber: true, Empty: true}
		case unique:
			return Got{raw: []byte("[]"), Empty: true}
		default:
			return Got{Empty: true}
		}
	}
	return st.value(q, now)
}

// Edge returns the first instant after now at which the answer may change by itself.
func (q *Query) Edge(st State, now int64) int64 {
	if st == nil {
		return event.Never
	}
	return st.edge(q, now)
}

// lookahead is how many edges are tried to find the one at which a test flips. That of
// the last one is returned untried: it is then asked again.
const lookahead = MaxRing

// Holds reports whether a test holds for the answer, and when that flips by itself, at
// the earliest.
func (q *Query) Holds(st State, test event.Test, now int64) (holds bool, flips int64) {
	value := q.Get(st, now).Value()
	holds = test.Holds(value, now)
	if st == nil {
		return holds, event.Never
	}
	if b, ok := st.(*buckets); ok && q.Window.Rolling && q.Window.Near == 0 && b.adds(q) && !test.Relative() {
		return holds, b.flips(q, test, now)
	}
	flips = test.Flips(value, now)
	edge := now
	for range lookahead {
		edge = st.edge(q, edge)
		if edge >= flips || test.Holds(q.Get(st, edge).Value(), edge) != holds {
			return holds, min(edge, flips)
		}
	}
	return holds, edge
}

// adds reports whether what is asked for is a total of buckets.
func (b *buckets) adds(q *Query) bool {
	return q.Spec.Content == Counts || q.Spec.Content == Sums
}
