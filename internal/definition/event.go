package definition

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"github.com/anabranch/anabranch/internal/document"
)

// maxOccurrence bounds at_least.
const maxOccurrence = 1_000_000

func aggregates() []Aggregate {
	return []Aggregate{Count, Sum, Avg, Min, Max, First, Last, MostFrequent, Unique, UniqueCount}
}

// didForm is the leaf that looks at events.
func didForm() form {
	did := func(c *Cond) *Did {
		if leaf(c).Did == nil {
			c.Leaf.Did = new(Did)
		}
		return c.Leaf.Did
	}
	members := append(eventMembers(func(c *Cond) *Event { return &did(c).Event }),
		member[Cond]{"times", count.notation(), "{gte: 1}", "the test of how many such events there are; 0 is never", func(p place, to *Cond) { did(to).Is = p.test(count) }},
		member[Cond]{"take", wordNotation(aggregates()...), "count", "what is made of the events, in place of their number", func(p place, to *Cond) { did(to).Take = oneOf(p, aggregates()) }},
		member[Cond]{"of", pathNotation(), "(none)", "the value of each event that goes into it; every aggregate but count needs it", func(p place, to *Cond) { did(to).Of = p.valuePath() }},
		member[Cond]{"is", anyValue.notation(), "(none)", "the test of what was taken", func(place, *Cond) {}}, // read by finish, which knows of what
	)
	return form{"did", "looks at events", members, func(p place, there map[string]place, to *Cond) { did(to).finish(p, there) }}
}

func (d *Did) finish(p place, there map[string]place) {
	d.Event.check(there)
	_, takes := there["take"]
	is, tested := there["is"]
	switch {
	case conflict(there, "times", "take", "of", "is"):
	case !takes:
		for _, key := range []string{"of", "is"} {
			if at, ok := there[key]; ok {
				at.report("without take", "take beside it, or times")
			}
		}
		d.Take = Count
		if _, counted := there["times"]; !counted {
			d.Is = Test{{Op: Gte, Values: []Value{{Kind: Number, Number: 1}}}}
		}
	default:
		d.Take.checkOf(p, there)
		if !tested {
			p.missing("is", anyValue.notation().want)
			return
		}
		d.Is = is.test(d.Take.domain())
	}
}

// domain is what the aggregate's values may be compared with.
func (a Aggregate) domain() *domain {
	switch a {
	case Count, UniqueCount:
		return count
	case Sum, Avg, Min, Max:
		return number
	case Unique:
		return listValue
	default:
		return anyValue
	}
}

// checkOf wants a value for each aggregate that has a use for one.
func (a Aggregate) checkOf(p place, there map[string]place) {
	at, has := there["of"]
	switch {
	case a == Count && has:
		at.report("beside take: count", "no value, since count counts events; unique_count counts values")
	case a != Count && a != "" && !has:
		p.missing("of", wantPath+", to the value that take: "+string(a)+" is of")
	}
}

// eventMembers say which events are meant.
func eventMembers[T any](event func(*T) *Event) []member[T] {
	window := func(kind WindowKind, of func(p place, w *Window)) func(place, *T) {
		return func(p place, to *T) {
			w := &event(to).Window
			if w.Kind == AllTime {
				w.Kind = kind
				of(p, w)
			}
		}
	}
	return []member[T]{
		{"did", didNotation(), required, "the event; a string is a track call's, exactly as it is sent", func(p place, to *T) { p.did(event(to)) }},
		{"where", refNotation("filter", wantPreds), "(none)", "what the event's values have to be; of a list of mappings one has to hold", func(p place, to *T) { event(to).Where = p.where() }},
		{"within", durationNotation("[1-9]"), "(all time)", "only events of the last so long count", window(Within, func(p place, w *Window) { w.Far = p.duration() })},
		{"between", betweenNotation(), "(all time)", "only events at most the first and at least the second ago", window(Between, func(p place, w *Window) { w.Far, w.Near = p.between() })},
		{"since", timeNotation(), "(all time)", "only events from then on", window(Since, func(p place, w *Window) { w.Since = p.time() })},
		{"until", timeNotation(), "(no end)", "with since: only events before then", func(p place, to *T) { event(to).Window.Until = p.time() }},
		{"sources", idsNotation("sources", 0), "all", "only events of these", func(p place, to *T) { event(to).Sources = p.ids("sources", 0) }},
		{"except_sources", idsNotation("sources", 0), "none", "not the events of these", func(p place, to *T) { event(to).ExceptSources = p.ids("sources", 0) }},
	}
}

// check judges what several keys say together.
func (e *Event) check(there map[string]place) {
	conflict(there, "between", "within")
	conflict(there, "since", "within", "between")
	conflict(there, "except_sources", "sources")
	until, ok := there["until"]
	if _, since := there["since"]; ok && !since {
		until.report("without since", "since beside it")
	} else if ok && !e.Window.Since.IsZero() && !e.Window.Until.IsZero() && !e.Window.Until.After(e.Window.Since) {
		until.expected("a time after since")
	}
}

// did reads what an event is called.
func (p place) did(to *Event) {
	to.Type = Track
	if document.KindOf(p.node) != "a mapping" {
		to.Name = parsed(p, wantDid, func(text string) (string, bool) { return text, validName(text) })
		return
	}
	entries, _ := p.entries(wantDid, document.MemberPath)
	if len(entries) != 1 {
		p.expected(wantDid)
		return
	}
	key, value := entries[0].key, entries[0].value
	switch to.Type = EventType(key.node.Value); to.Type {
	case Page, Screen:
		name := value.name()
		if to.AnyName = name == "*"; !to.AnyName {
			to.Name = name
		}
	default:
		key.stranger([]string{string(Page), string(Screen)})
	}
}

func (p place) between() (far, near time.Duration) {
	items := p.items("two durations")
	if items == nil {
		return 0, 0
	}
	if len(items) != 2 {
		p.report(strconv.Itoa(len(items))+" elements", betweenNotation().want)
		return 0, 0
	}
	far, near = items[0].duration(), items[1].duration()
	if far != 0 && near >= far {
		items[1].expected("a duration shorter than the one before it")
	}
	return far, near
}

// where reads alternatives, each of them a mapping of paths to tests. A single mapping is
// the only alternative.
func (p place) where() [][]Pred {
	if document.KindOf(p.node) != "a list" {
		return [][]Pred{p.preds()}
	}
	items := p.items("mappings of paths to tests")
	alternatives := make([][]Pred, len(items))
	for i, item := range items {
		alternatives[i] = item.preds()
	}
	return alternatives
}

// preds reads a mapping of paths to tests, by path.
func (p place) preds() []Pred {
	entries, ok := p.entries(wantPreds, document.NamePath)
	if ok && len(p.node.Content) == 0 {
		p.report("an empty mapping", wantPreds)
	}
	var preds []Pred
	for _, e := range entries {
		path, ok := parseValuePath(e.key.node.Value)
		if !ok {
			e.key.expected(wantValuePath)
			continue
		}
		preds = append(preds, Pred{Path: path, Test: e.value.test(anyValue)})
	}
	slices.SortFunc(preds, func(a, b Pred) int { return bytes.Compare([]byte(a.Path.String()), []byte(b.Path.String())) })
	return preds
}
