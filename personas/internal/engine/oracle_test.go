package engine_test

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/state"
)

// The oracle says what is true of a user by the list of all their calls, looking at each
// of them anew every time. It shares one thing with the engine, the bucket rule
// (state.Spec.At): which event times are rounded down, and how far.

// deed is one call of a user, as the oracle knows it.
type deed struct {
	typ, name  string
	source     string
	user       bool // has a user id
	at         int64
	offset     int64
	properties map[string]any
	context    map[string]any
	traits     map[string]any
}

// rule is a definition, as the oracle knows it.
type rule struct {
	audience *engine.Audience
	trait    *engine.Trait
	since    int64 // of a definition without history: the offset that it counts from
	ready    bool
}

func (r *rule) common() *definition.Common {
	if r.audience != nil {
		return &r.audience.Common
	}
	return &r.trait.Common
}

type oracle struct {
	rules map[string]*rule
}

// person is what the oracle knows of a user.
type person struct {
	deeds []deed
	told  map[string]*said
	clock int64
}

type said struct {
	member bool
	value  string
	at     int64
}

// change is what the oracle expects to be told.
type change struct {
	key, value string
	at         int64
	cause      engine.Cause
}

func (p *person) last() int64 {
	last := int64(math.MinInt64)
	for _, d := range p.deeds {
		last = max(last, d.at)
	}
	return last
}

func (p *person) identified() bool {
	return slices.ContainsFunc(p.deeds, func(d deed) bool { return d.user })
}

// keys returns the ids of all rules, in order.
func (o *oracle) keys() []string {
	keys := make([]string, 0, len(o.rules))
	for key := range o.rules {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// look compares what is true at an instant with what was told, and tells the difference.
func (o *oracle) look(p *person, now int64, cause engine.Cause) []change {
	var all []change
	for _, key := range o.keys() {
		r, told := o.rules[key], p.told[key]
		value, nothing := o.value(r, p, told, now, cause)
		if nothing && told == nil || value == "" || told != nil && told.value == value {
			continue
		}
		every := r.common().AtMostEvery.Milliseconds()
		if r.deleted() {
			every = 0
		}
		at := now
		if told != nil && now < told.at+every {
			continue
		}
		if cause == engine.CauseEvent && every == 0 {
			at = min(at, p.last())
		}
		if told != nil {
			at = max(at, told.at+every)
		}
		p.told[key] = &said{member: value == "true", value: value, at: at}
		all = append(all, change{key, value, at, cause})
	}
	return all
}

func (r *rule) deleted() bool { return r.audience != nil && r.audience.Deleted }

// value returns what is true by a rule, as text, "" if nothing may be told of it; nothing:
// who was told nothing is told nothing.
func (o *oracle) value(r *rule, p *person, told *said, now int64, cause engine.Cause) (value string, nothing bool) {
	switch common := r.common(); {
	case len(p.deeds) == 0:
		return "", true
	case r.deleted():
		// That a definition is gone is told by a sweep, not by chance.
		if told == nil || cause == engine.CauseTimer || cause == engine.CauseEvent {
			return "", true
		}
		return "false", true
	case !common.Enabled || !r.ready:
		return "", true
	case !p.identified() && !common.Anonymous && r.audience != nil:
		return "false", true
	case !p.identified() && !common.Anonymous:
		p = &person{} // as if there were no calls
	case r.audience != nil:
		holds := o.holds(r, &r.audience.When, p, now)
		return strconv.FormatBool(holds), !holds
	}
	t := r.trait
	v, empty := o.aggregate(r, p, t.Take, t.Of, &t.Event, t.AtLeast, cmp.Or(t.MaxValues, definition.MaxValues), false, now)
	return literal(v), empty
}

// pass lets time pass: it looks at every instant at which anything could change.
func (o *oracle) pass(p *person, until int64) []change {
	var all []change
	for {
		next := o.next(p, p.clock)
		if next > until {
			break
		}
		p.clock = next
		all = append(all, o.look(p, next, engine.CauseTimer)...)
	}
	p.clock = max(p.clock, until)
	return all
}

// next returns the first instant after now at which anything could change.
func (o *oracle) next(p *person, now int64) int64 {
	next := int64(math.MaxInt64)
	offer := func(at int64) {
		if at > now && at < next {
			next = at
		}
	}
	for key, r := range o.rules {
		if t := p.told[key]; t != nil {
			offer(t.at + r.common().AtMostEvery.Milliseconds())
		}
		if r.trait != nil {
			o.offerEvents(p, r.trait.Take, &r.trait.Event, nil, cmp.Or(r.trait.MaxValues, definition.MaxValues), offer)
		} else {
			o.offerCond(p, &r.audience.When, offer)
		}
	}
	return next
}

func (o *oracle) offerCond(p *person, c *definition.Cond, offer func(int64)) {
	for i := range c.All {
		o.offerCond(p, &c.All[i], offer)
	}
	for i := range c.Any {
		o.offerCond(p, &c.Any[i], offer)
	}
	if c.Not != nil {
		o.offerCond(p, c.Not, offer)
	}
	if c.Leaf == nil {
		return
	}
	offerInstants(p, c.Leaf.Is, offer)
	if d := c.Leaf.Did; d != nil {
		o.offerEvents(p, d.Take, &d.Event, d.Is, 0, offer)
		offerInstants(p, d.Is, offer)
	}
}

// offerInstants offers those at which a test of any value of a call may flip.
func offerInstants(p *person, is definition.Test, offer func(int64)) {
	for _, op := range is {
		for _, d := range p.deeds {
			instants := []int64{d.at}
			for _, object := range []map[string]any{d.traits, d.properties, d.context} {
				eachValue(object, func(v any) {
					if at, ok := instantOf(v); ok {
						instants = append(instants, at)
					}
				})
			}
			for _, at := range instants {
				offer(at)
				offer(at + op.For.Milliseconds())
				offer(at - op.For.Milliseconds())
			}
		}
	}
}

func (o *oracle) offerEvents(p *person, take definition.Aggregate, e *definition.Event, is definition.Test, most int, offer func(int64)) {
	spec := specOf(take, e.Window, is, most)
	for _, d := range p.deeds {
		offer(spec.At(d.at) + e.Window.Far.Milliseconds())
		offer(spec.At(d.at) + e.Window.Near.Milliseconds())
	}
}

// specOf is the bucket rule: which form an aggregate in a window has.
func specOf(take definition.Aggregate, w definition.Window, is definition.Test, most int) state.Spec {
	if take == definition.Count || take == "" {
		if most = 0; is == nil {
			most = math.MaxInt
		}
		for _, op := range is {
			for _, v := range op.Values {
				n := int(math.Floor(v.Number))
				if len(is) == 1 && (op.Op == definition.Gte || op.Op == definition.Lt) && n >= 1 && float64(n) == v.Number {
					n--
				}
				most = max(most, n+1)
			}
		}
	}
	return state.SpecOf(take, w, most)
}

// holds says whether a node of an audience holds.
func (o *oracle) holds(r *rule, c *definition.Cond, p *person, now int64) bool {
	switch {
	case c.Leaf != nil:
		return o.leafHolds(r, c.Leaf, p, now)
	case c.Not != nil:
		return !o.holds(r, c.Not, p, now)
	case len(c.Any) > 0:
		return slices.ContainsFunc(c.Any, func(c definition.Cond) bool { return o.holds(r, &c, p, now) })
	default:
		return !slices.ContainsFunc(c.All, func(c definition.Cond) bool { return !o.holds(r, &c, p, now) })
	}
}

func (o *oracle) leafHolds(r *rule, l *definition.Leaf, p *person, now int64) bool {
	switch {
	case l.Did != nil:
		v, _ := o.aggregate(r, p, l.Did.Take, l.Did.Of, &l.Did.Event, 0, 0, true, now, l.Did.Is...)
		return testHolds(l.Did.Is, v, now)
	case l.Trait != nil:
		return testHolds(l.Is, traitOf(r, p, l.Trait), now)
	case l.Profile != "":
		at := int64(math.MaxInt64)
		if l.Profile == definition.LastSeen {
			at = p.last()
		} else {
			for _, d := range p.deeds {
				at = min(at, d.at)
			}
		}
		return testHolds(l.Is, time.UnixMilli(at), now)
	case l.Computed != "":
		other := o.rules[l.Computed]
		t := other.trait
		v, _ := o.aggregate(other, p, t.Take, t.Of, &t.Event, t.AtLeast, cmp.Or(t.MaxValues, definition.MaxValues), false, now)
		return testHolds(l.Is, v, now)
	default:
		other := o.rules[l.Audience]
		return o.holds(other, &other.audience.When, p, now)
	}
}

// traitOf returns the newest value of a trait.
func traitOf(r *rule, p *person, path definition.Path) any {
	var newest *deed
	for i := range p.deeds {
		d := &p.deeds[i]
		if _, ok := d.traits[path[0]]; !ok || d.offset < r.since {
			continue
		}
		if newest == nil || d.at > newest.at || d.at == newest.at && d.offset > newest.offset {
			newest = d
		}
	}
	if newest == nil {
		return nil
	}
	return find(newest.traits, path)
}

// aggregate makes one value of the events in a window. Empty: of none.
func (o *oracle) aggregate(r *rule, p *person, take definition.Aggregate, of definition.Path, e *definition.Event, atLeast, most int, condition bool, now int64, is ...definition.Operation) (v any, empty bool) {
	var spec state.Spec
	if condition {
		spec = specOf(take, e.Window, is, definition.MaxValues)
		most = definition.MaxValues
	} else {
		spec = specOf(take, e.Window, nil, most)
	}
	matching := r.matching(p, e, of)
	var inside []deed
	in := func(at int64) bool {
		at = spec.At(at)
		switch e.Window.Kind {
		case definition.Within:
			return now-e.Window.Far.Milliseconds() < at && at <= now
		case definition.Between:
			return now-e.Window.Far.Milliseconds() < at && at <= now-e.Window.Near.Milliseconds()
		default:
			return true
		}
	}
	for _, d := range matching {
		if in(d.at) {
			inside = append(inside, d)
		}
	}
	switch take {
	case definition.First, definition.Last:
		if len(inside) == 0 {
			return nil, true
		}
		if take == definition.First {
			return valueIn(&inside[0], of), false
		}
		return valueIn(&inside[len(inside)-1], of), false
	case definition.MostFrequent:
		return mostFrequent(inside, of, cmp.Or(atLeast, definition.MinOccurrence))
	case definition.Unique, definition.UniqueCount:
		list := newest(matching, of, most, spec.At, in)
		if take == definition.UniqueCount {
			return float64(len(list)), len(list) == 0
		}
		return list, len(list) == 0
	case definition.Count, "":
		return float64(len(inside)), len(inside) == 0
	default:
		return arithmetic(take, inside, of)
	}
}

// matching returns the deeds that an event selects, with a value, at whatever time; the
// earliest first. Of the same time the later one in the log is the later one.
func (r *rule) matching(p *person, e *definition.Event, of definition.Path) (all []deed) {
	for _, d := range p.deeds {
		if d.offset < r.since || !selects(e, &d) || of != nil && valueIn(&d, of) == nil {
			continue
		}
		if e.Window.Kind == definition.Since && (d.at < e.Window.Since.UnixMilli() || !e.Window.Until.IsZero() && d.at >= e.Window.Until.UnixMilli()) {
			continue
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b deed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.offset, b.offset)) })
	return all
}

func arithmetic(take definition.Aggregate, inside []deed, of definition.Path) (v any, empty bool) {
	var numbers []float64
	for i := range inside {
		if f, ok := valueIn(&inside[i], of).(float64); ok {
			numbers = append(numbers, f)
		}
	}
	if len(numbers) == 0 {
		return nil, true
	}
	sum := 0.0
	for _, f := range numbers {
		sum += f
	}
	switch take {
	case definition.Min:
		return slices.Min(numbers), false
	case definition.Max:
		return slices.Max(numbers), false
	case definition.Avg:
		return sum / float64(len(numbers)), false
	default:
		return sum, false
	}
}

func mostFrequent(inside []deed, of definition.Path, atLeast int) (v any, empty bool) {
	count := make(map[string]int)
	value := make(map[string]any)
	for i := range inside {
		v := valueIn(&inside[i], of)
		count[literal(v)]++
		value[literal(v)] = v
	}
	best := ""
	for text, n := range count {
		if best == "" || n > count[best] || n == count[best] && before(value[text], value[best]) {
			best = text
		}
	}
	if best == "" || count[best] < atLeast {
		return nil, true
	}
	return value[best], false
}

// newest returns the values that came last, most of them at most, in order, and of them
// those that are in the window.
func newest(matching []deed, of definition.Path, most int, round func(int64) int64, in func(int64) bool) []any {
	last := make(map[string]int64)
	inside := make(map[string]bool)
	value := make(map[string]any)
	for i := range matching {
		v := valueIn(&matching[i], of)
		text := literal(v)
		value[text] = v
		last[text] = round(matching[i].at)
		inside[text] = inside[text] || in(matching[i].at)
	}
	texts := make([]string, 0, len(value))
	for text := range value {
		texts = append(texts, text)
	}
	sort.Slice(texts, func(i, j int) bool {
		a, b := texts[i], texts[j]
		if last[a] != last[b] {
			return last[a] > last[b]
		}
		return before(value[a], value[b])
	})
	list := []any{}
	for _, text := range texts[:min(most, len(texts))] {
		if inside[text] {
			list = append(list, value[text])
		}
	}
	sort.Slice(list, func(i, j int) bool { return before(list[i], list[j]) })
	return list
}

// before is code point order; a value that is no text stands as its JSON.
func before(a, b any) bool {
	text := func(v any) string {
		if s, ok := v.(string); ok {
			return s
		}
		return literal(v)
	}
	if ta, tb := text(a), text(b); ta != tb {
		return ta < tb
	}
	return literal(a) < literal(b)
}

func literal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func valueIn(d *deed, of definition.Path) any {
	if len(of) > 1 && of[0] == "context" {
		return find(d.context, of[1:])
	}
	return find(d.properties, of)
}

func find(v any, path definition.Path) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func eachValue(v any, visit func(any)) {
	visit(v)
	if m, ok := v.(map[string]any); ok {
		for _, v := range m {
			eachValue(v, visit)
		}
	}
}

// selects says whether a deed is one of those that an event selects.
func selects(e *definition.Event, d *deed) bool {
	if d.typ != string(e.Type) || !e.AnyName && d.name != e.Name ||
		len(e.Sources) > 0 && !slices.Contains(e.Sources, d.source) || slices.Contains(e.ExceptSources, d.source) {
		return false
	}
	for _, all := range e.Where {
		if !slices.ContainsFunc(all, func(p definition.Pred) bool { return !testHolds(p.Test, valueIn(d, p.Path), d.at) }) {
			return true
		}
	}
	return len(e.Where) == 0
}

func testHolds(t definition.Test, v any, now int64) bool {
	return !slices.ContainsFunc(t, func(o definition.Operation) bool { return !operationHolds(&o, v, now) })
}

func operationHolds(o *definition.Operation, v any, now int64) bool {
	var operands []any
	for _, value := range o.Values {
		operands = append(operands, map[definition.ValueKind]any{
			definition.Text: value.Text, definition.Number: value.Number, definition.Bool: value.Bool,
		}[value.Kind])
	}
	isOneOf := slices.ContainsFunc(operands, func(operand any) bool { return scalarsEqual(v, operand) })
	text, isText := v.(string)
	switch o.Op {
	case definition.Exists:
		return (v != nil) == operands[0].(bool)
	case definition.Eq, definition.In:
		return isOneOf
	case definition.Ne, definition.NotIn:
		return !isOneOf
	case definition.Contains:
		return containsIt(v, operands[0])
	case definition.NotContains:
		return !containsIt(v, operands[0])
	case definition.StartsWith, definition.EndsWith:
		part, ok := operands[0].(string)
		return isText && ok && map[definition.Op]bool{definition.StartsWith: strings.HasPrefix(text, part), definition.EndsWith: strings.HasSuffix(text, part)}[o.Op]
	case definition.Gt, definition.Gte, definition.Lt, definition.Lte:
		order, ok := orderOf(v, operands[0])
		return ok && map[definition.Op]bool{definition.Gt: order > 0, definition.Gte: order >= 0, definition.Lt: order < 0, definition.Lte: order <= 0}[o.Op]
	default:
		return instantHolds(o, v, now)
	}
}

func orderOf(v, operand any) (order int, ok bool) {
	switch operand := operand.(type) {
	case float64:
		f, isNumber := v.(float64)
		return cmp.Compare(f, operand), isNumber
	case string:
		text, isText := v.(string)
		return strings.Compare(text, operand), isText
	default:
		return 0, false
	}
}

func instantHolds(o *definition.Operation, v any, now int64) bool {
	span := o.For.Milliseconds()
	at, ok := instantOf(v)
	return ok && map[definition.Op]bool{
		definition.Before:     at < o.At.UnixMilli(),
		definition.After:      at > o.At.UnixMilli(),
		definition.WithinLast: now-span < at && at <= now,
		definition.BeforeLast: at <= now-span,
		definition.WithinNext: now < at && at <= now+span,
		definition.AfterNext:  at > now+span,
	}[o.Op]
}

func scalarsEqual(v, operand any) bool {
	switch v.(type) {
	case string, float64, bool:
		return v == operand
	default:
		return false
	}
}

func containsIt(v, operand any) bool {
	switch v := v.(type) {
	case string:
		part, ok := operand.(string)
		return ok && strings.Contains(v, part)
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return scalarsEqual(element, operand) })
	default:
		return false
	}
}

func instantOf(v any) (int64, bool) {
	switch v := v.(type) {
	case time.Time:
		return v.UnixMilli(), true
	case string:
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if at, err := time.Parse(layout, v); err == nil {
				return at.UnixMilli(), true
			}
		}
	}
	return 0, false
}
