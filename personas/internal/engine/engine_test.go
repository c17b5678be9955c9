package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/personas/internal/enginetest"
	"github.com/anabranch/anabranch/schemas"
)

// audience returns one of all of history.
func audience(id string, when definition.Cond) engine.Audience {
	a := engine.Audience{Version: 1}
	a.ID, a.Enabled, a.History.Full, a.When = id, true, true, when
	return a
}

func trait(id string, take definition.Aggregate, of string, w definition.Window) engine.Trait {
	t := engine.Trait{Version: 1}
	t.ID, t.Enabled, t.History.Full, t.Take, t.Event = id, true, true, take, purchase(w)
	if of != "" {
		t.Of = definition.Path{of}
	}
	return t
}

func compile(t *testing.T, d engine.Definitions) *engine.Catalogue {
	t.Helper()
	c, err := engine.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// order is a purchase so long after the start.
func order(after time.Duration, properties map[string]any) *engine.Call {
	at := time.UnixMilli(start).Add(after)
	d := deed{typ: "track", name: "Order Completed", source: "shop", user: true, at: at.UnixMilli(), properties: properties}
	call, err := parse(encode(&d, 0), d, d.at, 1)
	if err != nil {
		panic(err)
	}
	return &call
}

func at(after time.Duration) time.Time { return time.UnixMilli(start).Add(after) }

// texts says what changes are.
func texts(changes []engine.Change) (all []string) {
	for _, c := range changes {
		value := string(c.Value)
		if c.Class == engine.ClassAudience {
			value = strconv.FormatBool(c.Member)
		}
		all = append(all, fmt.Sprintf("%s=%s@%s %s", c.Key, value, c.At.Sub(at(0)), c.Cause))
	}
	return all
}

func expect(t *testing.T, changes []engine.Change, want ...string) {
	t.Helper()
	if got := texts(changes); !slices.Equal(got, want) {
		t.Errorf("told %q, expected %q", got, want)
	}
}

const dayLong = 24 * time.Hour

// A leaf that two audiences need is filled once: the second one, which needs nothing
// else, must not be told on half a history.
func TestALeafThatIsBeingFilledTellsNothing(t *testing.T) {
	t.Parallel()
	once, twice := did(definition.Count, nil, within(7), definition.Gte, 2), did(definition.Count, nil, within(30), definition.Lt, 2)
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{audience("a", once), audience("b", twice)}})
	if n := len(c.Leaves()); n != 2 {
		t.Fatalf("%d leaves, expected one that is shared, and LeafSeen", n)
	}
	p, filled := c.NewProfile(), false
	ready := func(id engine.LeafID) bool { return id == engine.LeafSeen || filled }
	expect(t, c.Take(p, order(0, nil), at(0), ready))
	c.Fold(p, order(-time.Hour, nil), func(id engine.LeafID) bool { return id != engine.LeafSeen })
	filled = true
	expect(t, c.Advance(p, at(time.Millisecond), ready, engine.CauseSweep), "a=true@1ms sweep")
}

// It is due when the truth flips, at the millisecond, and after that later than then: a
// slip here is a timer that fires for ever.
func TestDueIsLaterThanNow(t *testing.T) {
	t.Parallel()
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{audience("a", did(definition.Count, nil, within(7), definition.Gte, 1))}})
	p := c.NewProfile()
	expect(t, c.Take(p, order(0, nil), at(0), nil), "a=true@0s event")
	if want := at(7 * dayLong); !p.Due().Equal(want) {
		t.Fatalf("due at %v, expected %v", p.Due(), want)
	}
	expect(t, c.Advance(p, at(7*dayLong-time.Millisecond), nil, engine.CauseTimer))
	expect(t, c.Advance(p, at(7*dayLong), nil, engine.CauseTimer), "a=false@168h0m0s timer")
	if !p.Due().IsZero() {
		t.Errorf("due at %v, expected never", p.Due())
	}
}

// What was due while nobody looked is told in order, each at its instant.
func TestWhatIsOverdueIsToldInOrder(t *testing.T) {
	t.Parallel()
	c := compile(t, engine.Definitions{
		Audiences: []engine.Audience{
			audience("a", did(definition.Count, nil, within(7), definition.Gte, 1)),
			audience("b", definition.Cond{Not: new(did(definition.Count, nil, within(1), definition.Gte, 1))}),
		},
		Traits: []engine.Trait{trait("n", definition.Last, "n", within(2))},
	})
	p := c.NewProfile()
	expect(t, c.Take(p, order(0, map[string]any{"n": 1.5}), at(0), nil), "a=true@0s event", "n=1.5@0s event")
	expect(t, c.Take(p, order(30*dayLong, map[string]any{"n": 2.0}), at(30*dayLong), nil),
		"b=true@24h0m0s timer", "n=null@48h0m0s timer", "a=false@168h0m0s timer",
		"a=true@720h0m0s event", "b=false@720h0m0s event", "n=2@720h0m0s event")
}

// A threshold, and the shape of the tree, are not in a leaf's id; a larger need is.
// The least time between two changes is one between telling them. What was told last was
// told now, even of calls that come years late, as those of an import do.
func TestLateCallsAreToldNoMoreOften(t *testing.T) {
	t.Parallel()
	const year = 365 * dayLong
	hourly := trait("n", definition.Count, "", definition.Window{})
	hourly.AtMostEvery = time.Hour
	c := compile(t, engine.Definitions{Traits: []engine.Trait{hourly}})
	p := c.NewProfile()
	expect(t, c.Take(p, order(-9*year, nil), at(0), nil), "n=1@0s event")
	expect(t, c.Take(p, order(-8*year, nil), at(time.Second), nil))
	expect(t, c.Take(p, order(-7*year, nil), at(2*time.Second), nil))
	expect(t, c.Advance(p, at(time.Hour), nil, engine.CauseTimer), "n=3@1h0m0s timer")
}

// A set that is counted stops where one that is told does: at what max_values says.
func TestAsManyValuesAreCountedAsAreKept(t *testing.T) {
	t.Parallel()
	usual, more := trait("usual", definition.UniqueCount, "s", definition.Window{}), trait("more", definition.UniqueCount, "s", definition.Window{})
	more.MaxValues = 150
	c := compile(t, engine.Definitions{Traits: []engine.Trait{usual, more}})
	p := c.NewProfile()
	for i := range 200 {
		c.Take(p, order(time.Duration(i)*time.Second, map[string]any{"s": strconv.Itoa(i)}), at(time.Duration(i)*time.Second), nil)
	}
	for key, want := range map[string]string{"usual": "100", "more": "150"} {
		if node, err := c.Explain(p, key, at(time.Hour)); err != nil || string(node.Value) != want {
			t.Errorf("%s: %s, %v, expected %s", key, node.Value, err, want)
		}
	}
}

func TestLeavesAreShared(t *testing.T) {
	t.Parallel()
	ids := func(conds ...definition.Cond) []engine.LeafID {
		var d engine.Definitions
		for i, cond := range conds {
			d.Audiences = append(d.Audiences, audience(name("a", i), cond))
		}
		return slices.DeleteFunc(compile(t, d).Leaves(), func(id engine.LeafID) bool { return id == engine.LeafSeen })
	}
	filtered := func(texts ...string) definition.Cond {
		c := did(definition.Count, nil, within(7), definition.Gte, 1)
		var values []definition.Value
		for _, text := range texts {
			values = append(values, definition.Value{Kind: definition.Text, Text: text})
		}
		c.Leaf.Did.Event.Where = [][]definition.Pred{{{Path: definition.Path{"s"}, Test: definition.Test{{Op: definition.In, Values: values}}}}}
		return c
	}
	count := func(w definition.Window, op definition.Op, n float64) definition.Cond {
		return did(definition.Count, nil, w, op, n)
	}
	for text, c := range map[string]struct {
		a, b   definition.Cond
		shared bool
	}{
		"another threshold of the class":  {count(within(7), definition.Gte, 3), count(within(7), definition.Gte, 4), true},
		"another operator":                {count(within(7), definition.Gte, 4), count(within(7), definition.Eq, 3), true},
		"a larger class":                  {count(within(7), definition.Gte, 4), count(within(7), definition.Gte, 5), false},
		"another window of a ring":        {count(within(7), definition.Gte, 1), count(within(30), definition.Gte, 1), true},
		"another window of buckets":       {count(within(7), definition.Gte, 50), count(within(30), definition.Gte, 50), false},
		"another threshold of buckets":    {count(within(7), definition.Gte, 50), count(within(7), definition.Lt, 99), true},
		"all of time":                     {count(definition.Window{}, definition.Gte, 1), count(definition.Window{}, definition.Gte, 1000), true},
		"the order of filters":            {filtered("x", "y"), filtered("y", "x"), true},
		"another filter":                  {filtered("x", "y"), filtered("x"), false},
		"below another node":              {count(within(7), definition.Gte, 1), definition.Cond{Not: new(count(within(7), definition.Gte, 1))}, true},
		"sum and average":                 {did(definition.Sum, definition.Path{"n"}, within(7), definition.Gte, 1), did(definition.Avg, definition.Path{"n"}, within(7), definition.Gte, 1), true},
		"of another path":                 {did(definition.Sum, definition.Path{"n"}, within(7), definition.Gte, 1), did(definition.Sum, definition.Path{"m"}, within(7), definition.Gte, 1), false},
		"a while ago and until then, far": {count(definition.Window{Kind: definition.Between, Far: 7 * dayLong, Near: dayLong}, definition.Gte, 1), count(within(7), definition.Gte, 50), true},
	} {
		a, b, both := ids(c.a), ids(c.b), ids(c.a, c.b)
		if slices.Equal(a, b) != c.shared || (len(both) == 1) != c.shared {
			t.Errorf("%s: %v and %v, expected shared: %v", text, a, b, c.shared)
		}
	}
}

// The ids are in the records of users: another id is a backfill of every workspace.
func TestLeafIDsStay(t *testing.T) {
	t.Parallel()
	c := compile(t, enginetest.Shop(20))
	h := uint64(0)
	for _, id := range c.Leaves() {
		h = h*31 + uint64(id)
	}
	const want uint64 = 14438984255995674992
	if h != want {
		t.Errorf("the ids of leaves have changed: %d, expected %d", h, want)
	}
}

func TestWhatDoesNotCompile(t *testing.T) {
	t.Parallel()
	refers := func(id string) definition.Cond { return definition.Cond{Leaf: &definition.Leaf{Audience: id}} }
	for want, d := range map[string]engine.Definitions{
		`audience "a": it refers to itself`:                    {Audiences: []engine.Audience{audience("a", refers("b")), audience("b", refers("a"))}},
		`audience "a": there is no audience "c"`:               {Audiences: []engine.Audience{audience("a", refers("c"))}},
		`audience "a": there is no computed trait "t"`:         {Audiences: []engine.Audience{audience("a", definition.Cond{Leaf: &definition.Leaf{Computed: "t"}})}},
		`trait "a": there is another definition of this id`:    {Audiences: []engine.Audience{audience("a", refers("b"))}, Traits: []engine.Trait{trait("a", definition.Count, "", definition.Window{})}},
		`audience "a": there is another definition of this id`: {Audiences: []engine.Audience{audience("a", refers("b")), audience("a", refers("b"))}},
	} {
		if _, err := engine.Compile(d); err == nil || err.Error() != want {
			t.Errorf("got %v, expected %s", err, want)
		}
	}
}

// Audiences that refer to one another twice each are looked at once each.
func TestReferencesAreNotMultiplied(t *testing.T) {
	t.Parallel()
	d := engine.Definitions{Audiences: []engine.Audience{audience("a0", did(definition.Count, nil, within(7), definition.Gte, 1))}}
	for i := range 60 {
		other := definition.Cond{Leaf: &definition.Leaf{Audience: name("a", i)}}
		d.Audiences = append(d.Audiences, audience(name("a", i+1), definition.Cond{All: []definition.Cond{other, other}}))
	}
	c := compile(t, d)
	p := c.NewProfile()
	if n := len(c.Take(p, order(0, nil), at(0), nil)); n != 61 {
		t.Errorf("%d changes, expected 61", n)
	}
}

// A merge tells the surviving user at most once of each audience, and never again what
// they were told.
func TestAMergeTellsOnce(t *testing.T) {
	t.Parallel()
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{
		audience("one", did(definition.Count, nil, within(7), definition.Gte, 1)),
		audience("three", did(definition.Count, nil, within(7), definition.Gte, 3)),
	}})
	into, from := c.NewProfile(), c.NewProfile()
	c.Take(into, order(0, nil), at(0), nil)
	c.Take(from, order(time.Hour, nil), at(time.Hour), nil)
	c.Take(from, order(2*time.Hour, nil), at(2*time.Hour), nil)
	c.Take(from, order(-20*dayLong, nil), at(2*time.Hour), nil)
	from.Link("anonymous", at(0))
	c.Merge(into, from)
	expect(t, c.Advance(into, at(3*time.Hour), nil, engine.CauseMerge), "three=true@3h0m0s merge")
	expect(t, c.Advance(into, at(3*time.Hour), nil, engine.CauseMerge))
	if first, last := into.Seen(); !first.Equal(at(-20*dayLong)) || !last.Equal(at(2*time.Hour)) || len(into.Links) != 1 {
		t.Errorf("seen from %v to %v, links %v", first, last, into.Links)
	}
}

// The changes of a user who was deleted and came back have other numbers: who has seen
// the first ones would take them for copies.
func TestForgettingKeepsTheCount(t *testing.T) {
	t.Parallel()
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{audience("a", did(definition.Count, nil, within(7), definition.Gte, 1))}})
	p := c.NewProfile()
	c.Take(p, order(0, nil), at(0), nil)
	p.Forget(engine.Deletion{Offset: 7, Request: "r-1"})
	p, err := c.Decode(p.Append(nil))
	if err != nil || !p.Empty() || p.Deletion != (engine.Deletion{Offset: 7, Request: "r-1"}) || len(p.Sources()) != 0 {
		t.Fatalf("%+v, %v", p, err)
	}
	expect(t, c.Advance(p, at(1), nil, engine.CauseSweep))
	if again := c.Take(p, order(time.Hour, nil), at(time.Hour), nil); len(again) != 1 || again[0].Seq != 2 {
		t.Errorf("told %+v, expected one change, the second", again)
	}
}

// What was deleted is told to its members if that was asked for, and by a sweep.
func TestADeletedAudienceLetsGo(t *testing.T) {
	t.Parallel()
	a := audience("a", did(definition.Count, nil, within(7), definition.Gte, 1))
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{a}})
	p := c.NewProfile()
	c.Take(p, order(0, nil), at(0), nil)
	a.Deleted, a.OnDelete = true, definition.OnDeleteKeep
	expect(t, compile(t, engine.Definitions{Audiences: []engine.Audience{a}}).Advance(p.Clone(), at(0), nil, engine.CauseEdit))
	a.OnDelete = definition.OnDeleteExit
	c = compile(t, engine.Definitions{Audiences: []engine.Audience{a}})
	expect(t, c.Advance(p, at(time.Hour), nil, engine.CauseEdit), "a=false@1h0m0s edit")
	expect(t, c.Advance(p, at(time.Hour), nil, engine.CauseEdit))
}

// Users who no longer count, since a definition has become one of users with an id, are told
// so: an audience that is edited keeps no old members.
func TestAnonymousUsersAreToldThatTheyNoLongerCount(t *testing.T) {
	t.Parallel()
	a, n := audience("a", did(definition.Count, nil, definition.Window{}, definition.Gte, 1)), trait("n", definition.Count, "", definition.Window{})
	a.Anonymous, n.Anonymous = true, true
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{a}, Traits: []engine.Trait{n}})
	p := c.NewProfile()
	call := order(0, nil)
	call.UserID, call.AnonymousID = "", "somebody"
	expect(t, c.Take(p, call, at(0), nil), "a=true@0s event", "n=1@0s event")
	a.Anonymous, n.Anonymous = false, false
	c = compile(t, engine.Definitions{Audiences: []engine.Audience{a}, Traits: []engine.Trait{n}})
	expect(t, c.Advance(p, at(time.Hour), nil, engine.CauseEdit), "a=false@1h0m0s edit", "n=0@1h0m0s edit")
	expect(t, c.Advance(p, at(2*time.Hour), nil, engine.CauseEdit))
	expect(t, c.Take(p, order(3*time.Hour, nil), at(3*time.Hour), nil), "a=true@3h0m0s event", "n=2@3h0m0s event")
}

func decode(t *testing.T, c *engine.Catalogue, record []byte) *engine.Profile {
	t.Helper()
	p, err := c.Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// What is out of the ordinary has an answer, and is counted.
func TestCounts(t *testing.T) {
	t.Parallel()
	var counts engine.Counts
	most := trait("most", definition.Unique, "s", definition.Window{})
	most.MaxValues = 2
	c := compile(t, engine.Definitions{Counts: &counts, Traits: []engine.Trait{
		trait("sum", definition.Sum, "n", within(7)), most, trait("last", definition.Last, "l", definition.Window{}),
	}})
	p := c.NewProfile()
	for i, text := range []string{"a", "b", "c"} {
		c.Take(p, order(time.Duration(i)*time.Hour, map[string]any{"n": "7", "s": text, "l": strings.Repeat("x", engine.MaxValueBytes)}), at(time.Duration(i)*time.Hour), nil)
	}
	c.Take(p, order(-30*dayLong, map[string]any{"n": 7.0}), at(3*time.Hour), nil)
	late := order(9*dayLong, nil)
	value := encode(&deed{typ: "track", name: "Order Completed", user: true, at: late.At.UnixMilli()}, 0)
	if err := engine.ParseCall(late, value, nil, at(4*time.Hour)); err != nil {
		t.Fatal(err)
	}
	c.Take(p, late, at(4*time.Hour), nil)
	got := fmt.Sprint(counts.NotNumbers.Load(), counts.TooLong.Load(), counts.Dropped.Load(), counts.Future.Load(), counts.Old.Load())
	if got != "3 3 1 1 1" {
		t.Errorf("no numbers, too long, dropped, from the future, old: %s, expected 3 3 1 1 1", got)
	}
	if _, last := p.Seen(); !last.Equal(at(4 * time.Hour)) {
		t.Errorf("last seen %v, expected when the call from the future was taken in", last)
	}
	if node, err := c.Explain(p, "most", at(5*time.Hour)); err != nil || string(node.Value) != `["b","c"]` {
		t.Errorf("the newest values are %s, %v", node.Value, err)
	}
}

// A record stays below its bound, whatever a user does: the oldest is let go.
func TestRecordsAreBounded(t *testing.T) {
	t.Parallel()
	var counts engine.Counts
	d := engine.Definitions{Counts: &counts}
	for i := range 4 {
		u := trait(name("t", i), definition.Unique, "s", definition.Window{})
		u.MaxValues, u.Event.Name = definition.MaxMaxValues, "Order Completed"
		u.Event.ExceptSources = []string{name("none", i)}
		d.Traits = append(d.Traits, u)
	}
	c := compile(t, d)
	p := c.NewProfile()
	for i := range 300 {
		c.Fold(p, order(time.Duration(i)*time.Minute, map[string]any{"s": fmt.Sprintf("%04d%s", i, strings.Repeat("x", 500))}), nil)
	}
	record := p.Append(nil)
	if len(record) > engine.MaxRecordBytes || len(record) < engine.MaxRecordBytes/4 || counts.Shed.Load() == 0 {
		t.Fatalf("%d bytes, shed %d times", len(record), counts.Shed.Load())
	}
	p = decode(t, c, record)
	node, err := c.Explain(p, "t0", at(dayLong))
	if err != nil || bytes.Contains(node.Value, []byte(`"0000`)) || !bytes.Contains(node.Value, []byte(`"0299`)) {
		t.Errorf("the oldest value is there, or the newest is not: %.60s, %v", node.Value, err)
	}
}

func TestBrokenRecords(t *testing.T) {
	t.Parallel()
	c := compile(t, enginetest.Shop(20))
	p, _ := shopper(t, c, 20)
	record := p.Append(nil)
	for _, broken := range [][]byte{nil, {1}, {2, 0, 0}, record[:len(record)-1], append(slices.Clone(record), 1)} {
		if _, err := c.Decode(broken); !errors.Is(err, engine.ErrRecord) {
			t.Errorf("%x: %v", broken, err)
		}
	}
}

// FuzzDecode: no bytes do harm, and what is read is written again as it was.
func FuzzDecode(f *testing.F) {
	c, err := engine.Compile(enginetest.Shop(20))
	if err != nil {
		f.Fatal(err)
	}
	for _, calls := range []int{1, 20} {
		p, _ := shopper(f, c, calls)
		p.Link("anonymous", at(0))
		f.Add(p.Append(nil))
	}
	value := enginetest.Visit(0, "user-4711", at(dayLong))
	f.Fuzz(func(t *testing.T, record []byte) {
		p, err := c.Decode(record)
		if err != nil {
			if !errors.Is(err, engine.ErrRecord) {
				t.Errorf("error %v", err)
			}
			return
		}
		var call engine.Call
		if err := engine.ParseCall(&call, value, enginetest.VisitHeaders, at(dayLong)); err != nil {
			t.Fatal(err)
		}
		// Profiles of the far future are due for longer than a test has time.
		if _, last := p.Seen(); last.After(at(1000*dayLong)) || p.Due().Before(at(-1000*dayLong)) && !p.Due().IsZero() {
			return
		}
		c.Take(p, &call, at(dayLong), nil)
		again := p.Append(nil)
		if _, err := c.Decode(again); err != nil {
			t.Errorf("what was written is not read: %v", err)
		}
	})
}

func TestExplain(t *testing.T) {
	t.Parallel()
	c := compile(t, engine.Definitions{
		Audiences: []engine.Audience{
			audience("a", definition.Cond{All: []definition.Cond{
				did(definition.Sum, definition.Path{"n"}, within(7), definition.Gte, 10),
				{Leaf: &definition.Leaf{Profile: definition.FirstSeen, Is: definition.Test{{Op: definition.BeforeLast, For: dayLong}}}},
				{Not: &definition.Cond{Leaf: &definition.Leaf{Trait: definition.Path{"plan"}, Is: definition.Test{{Op: definition.Exists, Values: []definition.Value{{Kind: definition.Bool, Bool: true}}}}}}},
			}}),
		},
		Traits: []engine.Trait{trait("n", definition.Count, "", within(30))},
	})
	p := c.NewProfile()
	c.Take(p, order(0, map[string]any{"n": 12.5}), at(0), nil)
	n, err := c.Explain(p, "a", at(0))
	if err != nil {
		t.Fatal(err)
	}
	sum, negation := n.Children[0], n.Children[2]
	edge := sum.FlipsAt.Sub(at(0))
	got := fmt.Sprintf("%s %t at %v; %s: %s %s %t; %s %t, %s %q", n.Text, n.Holds, n.FlipsAt.Sub(at(0)), sum.Text, sum.Value, sum.Threshold, sum.Holds,
		negation.Text, negation.Holds, negation.Children[0].Text, negation.Children[0].Value)
	if want := `all false at 24h0m0s; did: Order Completed take: sum of: n within: 7d: 12.5 gte 10 true; not true, trait: plan ""`; got != want {
		t.Errorf("got %s, expected %s", got, want)
	}
	if edge > 7*dayLong || edge <= 7*dayLong-time.Hour || !negation.FlipsAt.IsZero() {
		t.Errorf("the sum flips after %v, the negation at %v", edge, negation.FlipsAt)
	}
	if _, err := c.Explain(p, "b", at(0)); err == nil || !strings.Contains(err.Error(), `"b"`) {
		t.Errorf("of an unknown key: %v", err)
	}
	call := order(0, nil)
	if !c.Matches("a", call) || !c.Matches("n", call) || c.Matches("b", call) {
		t.Error("a call that counts does not match, or one of nothing does")
	}
}

// A call of nothing that is looked at changes no more than when a user was seen.
func TestConcerns(t *testing.T) {
	t.Parallel()
	a := audience("a", did(definition.Count, nil, within(7), definition.Gte, 1))
	c := compile(t, engine.Definitions{Audiences: []engine.Audience{a}})
	call := order(0, nil)
	if !c.Concerns(call) {
		t.Error("a call that is counted does not concern anybody")
	}
	call.Name = "Other"
	if c.Concerns(call) || !c.Fills(call, func(id engine.LeafID) bool { return id == engine.LeafSeen }) || c.Fills(call, func(id engine.LeafID) bool { return id != engine.LeafSeen }) {
		t.Error("a call of another name concerns LeafSeen alone")
	}
	identify := &engine.Call{Type: schemas.TypeIdentify, Traits: []byte(`{"plan":"x"}`)}
	if c.Concerns(identify) {
		t.Error("nobody looks at traits")
	}
	a.When = definition.Cond{Leaf: &definition.Leaf{Trait: definition.Path{"plan"}, Is: definition.Test{{Op: definition.Exists, Values: []definition.Value{{Kind: definition.Bool, Bool: true}}}}}}
	if c = compile(t, engine.Definitions{Audiences: []engine.Audience{a}}); !c.Concerns(identify) || c.Concerns(call) {
		t.Error("an audience looks at this trait")
	}
	identify.Own = true
	if c.Concerns(identify) {
		t.Error("what personas itself tells concerns nobody")
	}
}
