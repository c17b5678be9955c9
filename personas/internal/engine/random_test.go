package engine_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// dice makes random definitions and calls out of few words, so that they meet.
type dice struct{ *rand.Rand }

func pick[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

const (
	second = int64(1000)
	hour   = 3600 * second
	day    = 24 * hour
)

// start is when the random users begin.
var start = time.Date(2026, 3, 1, 12, 34, 56, 789e6, time.UTC).UnixMilli()

func (d dice) span() time.Duration {
	return pick(d, 10*time.Second, 90*time.Second, 30*time.Minute, 12*time.Hour, 24*time.Hour, 7*24*time.Hour, 30*24*time.Hour, 90*24*time.Hour)
}

func (d dice) instant() int64 { return start + d.Int64N(100*day) - 20*day }

func (d dice) scalar() definition.Value {
	switch d.IntN(4) {
	case 0:
		return definition.Value{Kind: definition.Number, Number: float64(d.IntN(24)) / 4}
	case 1:
		return definition.Value{Kind: definition.Bool, Bool: d.chance(50)}
	default:
		return definition.Value{Kind: definition.Text, Text: pick(d, "x", "y", "xy", "é\"", "2")}
	}
}

func number(n float64) []definition.Value {
	return []definition.Value{{Kind: definition.Number, Number: n}}
}

// operation returns one on any value.
func (d dice) operation() definition.Operation {
	values := []definition.Value{d.scalar()}
	switch op := pick(d, definition.Eq, definition.Ne, definition.Gt, definition.Gte, definition.Lt, definition.Lte, definition.In, definition.NotIn,
		definition.Contains, definition.NotContains, definition.StartsWith, definition.EndsWith, definition.Exists, definition.Before, definition.After,
		definition.WithinLast, definition.BeforeLast, definition.WithinNext, definition.AfterNext); op {
	case definition.In, definition.NotIn:
		return definition.Operation{Op: op, Values: append(values, d.scalar())}
	case definition.Exists:
		return definition.Operation{Op: op, Values: []definition.Value{{Kind: definition.Bool, Bool: d.chance(60)}}}
	case definition.Before, definition.After:
		return definition.Operation{Op: op, At: time.UnixMilli(d.instant())}
	case definition.WithinLast, definition.BeforeLast, definition.WithinNext, definition.AfterNext:
		return definition.Operation{Op: op, For: d.span()}
	default:
		return definition.Operation{Op: op, Values: values}
	}
}

func (d dice) test() definition.Test {
	t := definition.Test{d.operation()}
	if d.chance(25) {
		t = append(t, d.operation())
	}
	return t
}

// dated is a test of an instant.
func (d dice) dated() definition.Test {
	for {
		if o := d.operation(); o.For > 0 || !o.At.IsZero() {
			return definition.Test{o}
		}
	}
}

// numeric is a test of a count or a sum.
func (d dice) numeric(most int) definition.Test {
	op := pick(d, definition.Gte, definition.Gte, definition.Lt, definition.Gt, definition.Lte, definition.Eq, definition.Ne)
	n := float64(d.IntN(most + 1))
	if d.chance(10) {
		n += 0.5
	}
	t := definition.Test{{Op: op, Values: number(n)}}
	if d.chance(20) {
		t = append(t, definition.Operation{Op: definition.Lt, Values: number(float64(d.IntN(most + 3)))})
	}
	return t
}

func (d dice) path() definition.Path {
	return pick(d, definition.Path{"n"}, definition.Path{"n"}, definition.Path{"s"}, definition.Path{"s"}, definition.Path{"o", "in"}, definition.Path{"context", "c"}, definition.Path{"t"})
}

func (d dice) event() definition.Event {
	e := definition.Event{Type: definition.Track, Name: pick(d, "A", "A", "B")}
	if d.chance(15) {
		e = definition.Event{Type: definition.Page, Name: pick(d, "A", "P"), AnyName: d.chance(50)}
	}
	if d.chance(35) {
		for range 1 + d.IntN(2) {
			preds := []definition.Pred{{Path: d.path(), Test: d.test()}}
			if d.chance(30) {
				preds = append(preds, definition.Pred{Path: d.path(), Test: d.test()})
			}
			e.Where = append(e.Where, preds)
		}
	}
	switch d.IntN(8) {
	case 0:
		e.Sources = []string{pick(d, "web", "app")}
	case 1:
		e.ExceptSources = []string{"web"}
	}
	e.Window = d.window()
	return e
}

func (d dice) window() definition.Window {
	switch d.IntN(7) {
	case 0, 1, 2:
		return definition.Window{Kind: definition.Within, Far: d.span()}
	case 3:
		far, near := d.span(), d.span()
		if far > near {
			return definition.Window{Kind: definition.Between, Far: far, Near: near}
		}
		return definition.Window{Kind: definition.Within, Far: far}
	case 4:
		w := definition.Window{Kind: definition.Since, Since: time.UnixMilli(start + d.Int64N(5*day))}
		if d.chance(60) {
			w.Until = w.Since.Add(d.span())
		}
		return w
	default:
		return definition.Window{}
	}
}

var aggregates = []definition.Aggregate{
	definition.Count, definition.Count, definition.Sum, definition.Avg, definition.Min, definition.Max,
	definition.First, definition.Last, definition.MostFrequent, definition.Unique, definition.UniqueCount,
}

// take returns an aggregate, its path and a test that may hold.
func (d dice) take() (definition.Aggregate, definition.Path, definition.Test) {
	take := pick(d, aggregates...)
	if d.chance(40) {
		take = definition.Count
	}
	switch take {
	case definition.Count:
		return take, nil, d.numeric(pick(d, 1, 2, 3, 6, 40))
	case definition.Sum:
		return take, definition.Path{"n"}, d.numeric(20)
	case definition.Avg, definition.Min, definition.Max:
		return take, definition.Path{"n"}, d.numeric(6)
	case definition.UniqueCount:
		return take, d.path(), d.numeric(4)
	case definition.Unique:
		return take, d.path(), definition.Test{{Op: pick(d, definition.Contains, definition.NotContains), Values: []definition.Value{d.scalar()}}}
	default:
		return take, d.path(), d.test()
	}
}

// cond returns a tree. Of are what it may refer to.
func (d dice) cond(depth int, audiences, traits []string) definition.Cond {
	if depth > 0 && d.chance(45) {
		switch d.IntN(3) {
		case 0:
			c := d.cond(depth-1, audiences, traits)
			return definition.Cond{Not: &c}
		case 1:
			return definition.Cond{All: []definition.Cond{d.cond(depth-1, audiences, traits), d.cond(depth-1, audiences, traits)}}
		default:
			return definition.Cond{Any: []definition.Cond{d.cond(depth-1, audiences, traits), d.cond(depth-1, audiences, traits)}}
		}
	}
	return definition.Cond{Leaf: d.leaf(audiences, traits)}
}

func (d dice) leaf(audiences, traits []string) *definition.Leaf {
	switch n := d.IntN(12); {
	case n == 0 && len(audiences) > 0:
		return &definition.Leaf{Audience: pick(d, audiences...)}
	case n == 1 && len(traits) > 0:
		t := d.test()
		if d.chance(60) {
			t = d.numeric(5)
		}
		return &definition.Leaf{Computed: pick(d, traits...), Is: t}
	case n == 2:
		return &definition.Leaf{Profile: pick(d, definition.FirstSeen, definition.LastSeen), Is: d.dated()}
	case n <= 4:
		t := d.test()
		if d.chance(50) {
			return &definition.Leaf{Trait: definition.Path{"until"}, Is: d.dated()}
		}
		return &definition.Leaf{Trait: pick(d, definition.Path{"plan"}, definition.Path{"address", "city"}, definition.Path{"tags"}), Is: t}
	default:
		e := d.event()
		take, of, is := d.take()
		return &definition.Leaf{Did: &definition.Did{Event: e, Take: take, Of: of, Is: is}}
	}
}

func (d dice) common(id string) definition.Common {
	c := definition.Common{ID: id, Enabled: !d.chance(5), Anonymous: d.chance(20), History: definition.History{Full: !d.chance(10)}, Send: definition.SendIdentify}
	if d.chance(25) {
		c.AtMostEvery = d.span()
	}
	return c
}

func (d dice) audience(id string, audiences, traits []string) engine.Audience {
	a := definition.Audience{Common: d.common(id), When: d.cond(3, audiences, traits), OnDelete: pick(d, definition.OnDeleteKeep, definition.OnDeleteExit)}
	return engine.Audience{Audience: a, Version: 1}
}

func (d dice) trait(id string) engine.Trait {
	take, of, _ := d.take()
	t := definition.Trait{Common: d.common(id), Take: take, Of: of, Event: d.event(), AtLeast: 1 + d.IntN(2), MaxValues: 1 + d.IntN(4)}
	return engine.Trait{Trait: t, Version: 1}
}

// deed returns a random call, at a time by the clock of the client.
func (d dice) deed(at int64) deed {
	e := deed{typ: "track", name: pick(d, "A", "A", "B", "C"), source: pick(d, "web", "app", "web"), at: at, user: !d.chance(30)}
	switch d.IntN(8) {
	case 0:
		e.typ, e.name = "page", pick(d, "A", "P", "")
	case 1, 2:
		e.typ, e.name, e.traits = "identify", "", d.traits(at)
		return e
	case 3:
		e.typ, e.name = pick(d, "screen", "group", "alias"), ""
	}
	e.properties = map[string]any{}
	for _, key := range []string{"n", "s", "t"} {
		if d.chance(80) {
			e.properties[key] = d.value(key, at)
		}
	}
	if d.chance(50) {
		e.properties["o"] = map[string]any{"in": d.value("s", at), "x": "}{\"\\"}
	}
	if d.chance(50) {
		e.context = map[string]any{"c": d.value("s", at)}
	}
	return e
}

func (d dice) traits(at int64) map[string]any {
	t := map[string]any{}
	if d.chance(50) {
		t["plan"] = d.value("s", at)
	}
	if d.chance(40) {
		t["address"] = pick[any](d, map[string]any{"city": d.value("s", at)}, map[string]any{"zip": 7.0}, nil, "nowhere")
	}
	if d.chance(30) {
		t["tags"] = []any{d.value("s", at), d.value("s", at)}
	}
	if d.chance(50) {
		t["until"] = d.value("t", at)
	}
	return t
}

func (d dice) value(key string, at int64) any {
	if d.chance(10) {
		return pick[any](d, nil, "7", true, []any{"x", 2.0}, map[string]any{"a": 1.0})
	}
	switch key {
	case "n":
		return float64(d.IntN(40)-8) / 4
	case "t":
		when := time.UnixMilli(at + d.Int64N(20*day) - 10*day).UTC()
		return when.Format(pick(d, "2006-01-02T15:04:05.000Z", time.DateOnly, time.RFC3339))
	default:
		return pick[any](d, "x", "y", "xy", "é\"", "2", 2.0, "z\n")
	}
}

func name(kind string, n int) string { return fmt.Sprintf("%s%d", kind, n) }
