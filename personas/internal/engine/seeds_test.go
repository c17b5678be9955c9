package engine_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
)

var (
	seeds = flag.Int("engine.seeds", 300, "random users that TestTheOracleAgrees lives through")
	seed  = flag.Int("engine.seed", -1, "the only one of them to live through")
)

// TestTheOracleAgrees lives through the lives of random users under random definitions,
// and compares all that is told, its instants and its causes with what the oracle
// expects: calls that come late or are imported, a clock that stops one millisecond
// before an instant at which something changes and at it, definitions that come, go, are
// edited and disabled in the middle, with a backfill that is interleaved with live calls,
// merges, deletions, records read back after every step, and steps that are undone.
func TestTheOracleAgrees(t *testing.T) {
	t.Parallel()
	from, until := 0, *seeds
	if *seed >= 0 {
		from, until = *seed, *seed+1
	}
	var steps, told, timers int
	for s := from; s < until; s++ {
		w := newWorld(uint64(s))
		if err := w.live(60); err != nil {
			t.Fatalf("seed %d, step %d: %s\n%v", s, w.step, strings.Join(w.log, "\n"), err)
		}
		steps += w.step
		told += w.told
		timers += w.timers
	}
	t.Logf("%d steps, %d changes, %d of them by time", steps, told, timers)
	if *seed < 0 && (told < steps/20 || timers < told/20) {
		t.Error("so few changes prove nothing")
	}
}

// world is one random life: a log of calls, two users, definitions, and the oracle.
type world struct {
	dice
	oracle
	step, told, timers int
	log                []string

	now       int64
	offset    int64
	people    [2]*person
	profiles  [2]*engine.Profile
	records   [2]map[int64]record // what each user has in the log, by offset
	catalogue *engine.Catalogue
	counts    engine.Counts
	nextID    int

	held map[string]bool // of which nothing is told yet

	ready   map[engine.LeafID]bool
	filling *fill
}

type record struct {
	deed  deed
	value []byte
	at    int64 // received
}

// fill is a backfill under way: what is left to fold, into which leaves.
type fill struct {
	leaves map[engine.LeafID]int64 // the offsets that they are filled from
	left   [2][]int64              // offsets
}

// only tells the leaves that the record of an offset is for.
func (f *fill) only(offset int64) func(engine.LeafID) bool {
	return func(id engine.LeafID) bool {
		from, ok := f.leaves[id]
		return ok && offset >= from
	}
}

func newWorld(seed uint64) *world {
	w := &world{dice: dice{rand.New(rand.NewPCG(seed, 7))}, now: start, ready: map[engine.LeafID]bool{}}
	w.rules = map[string]*rule{}
	for i := range w.people {
		w.reset(i)
	}
	return w
}

func (w *world) reset(i int) {
	w.people[i], w.profiles[i], w.records[i] = &person{told: map[string]*said{}, clock: w.now}, new(engine.Profile), map[int64]record{}
	if w.filling != nil {
		w.filling.left[i] = nil
	}
}

func (w *world) note(format string, args ...any) {
	w.log = append(w.log, time.UnixMilli(w.now).UTC().Format(schemas.TimeLayout)+" "+fmt.Sprintf(format, args...))
}

func (w *world) live(steps int) error {
	for range 1 + w.IntN(4) {
		w.define()
	}
	if err := w.compile(); err != nil {
		return err
	}
	for w.step = 1; w.step <= steps; w.step++ {
		if err := w.live1(); err != nil {
			return err
		}
		for i := range w.profiles {
			if err := w.check(i); err != nil {
				return fmt.Errorf("user %d: %w", i, err)
			}
		}
	}
	return nil
}

func (w *world) live1() error {
	switch n := w.IntN(100); {
	case n < 50:
		return w.call(w.IntN(100) / 80)
	case n < 75:
		return w.wait(w.IntN(100) / 80)
	case n < 78:
		return w.merge()
	case n < 79:
		w.note("user 0 is deleted")
		w.profiles[0].Forget(engine.Deletion{Offset: w.offset, Request: "r"})
		p := w.profiles[0]
		w.reset(0)
		w.profiles[0] = p
		return nil
	case n < 82:
		if err := w.catchUp(); err != nil {
			return err
		}
		w.redefine()
		return w.compile()
	case n < 84:
		return w.away()
	default:
		return w.backfill()
	}
}

// define makes a new definition.
func (w *world) define() {
	audiences, traits := w.ids()
	w.nextID++
	r := &rule{}
	if w.chance(70) {
		a := w.audience(name("a", w.nextID), audiences, traits)
		r.audience = &a
	} else {
		t := w.trait(name("t", w.nextID))
		r.trait = &t
	}
	if !r.common().History.Full {
		r.since = w.offset + 1
	}
	w.rules[r.common().ID] = r
	w.note("define %s since %d", show(r), r.since)
}

// ids returns what definitions may refer to.
func (w *world) ids() (audiences, traits []string) {
	for _, key := range w.keys() {
		switch r := w.rules[key]; {
		case r.trait != nil && !r.trait.Deleted:
			traits = append(traits, key)
		case r.audience != nil && !r.audience.Deleted:
			audiences = append(audiences, key)
		}
	}
	return audiences, traits
}

// redefine makes, edits, deletes, or switches a definition.
func (w *world) redefine() {
	keys := w.keys()
	r := w.rules[pick(w.dice, keys...)]
	switch n := w.IntN(10); {
	case n < 4 && len(keys) < 8:
		w.define()
	case n < 6:
		r.common().Enabled = !r.common().Enabled
		w.note("switch %s", r.common().ID)
	case n < 8 && r.audience != nil && !r.audience.Deleted:
		if !w.chance(50) || r.since > 0 {
			w.threshold(&r.audience.When)
		} else if audiences, traits := w.ids(); len(audiences) > 0 {
			i := slices.Index(audiences, r.audience.ID)
			r.audience.When = w.cond(2, audiences[:i], traits) // of earlier ones alone: no cycles
		}
		r.audience.Version++
		w.note("edit %s", show(r))
	case r.audience != nil && !w.referred(r.audience.ID):
		r.audience.Deleted = true
		w.note("delete %s", r.audience.ID)
		if r.audience.OnDelete != definition.OnDeleteExit {
			delete(w.rules, r.audience.ID)
		}
	}
	if len(w.rules) == 0 {
		w.define()
	}
}

// threshold changes one test alone: what is remembered may serve it too.
func (w *world) threshold(c *definition.Cond) {
	switch {
	case c.Leaf != nil && c.Leaf.Did != nil && c.Leaf.Did.Take == definition.Count:
		did := *c.Leaf.Did
		did.Is = w.numeric(6)
		c.Leaf = &definition.Leaf{Did: &did}
	case c.Not != nil:
		w.threshold(c.Not)
	case len(c.All) > 0:
		w.threshold(&c.All[0])
	case len(c.Any) > 0:
		w.threshold(&c.Any[0])
	}
}

func (w *world) referred(id string) bool {
	for _, r := range w.rules {
		if r.audience != nil && strings.Contains(fmt.Sprint(flat(&r.audience.When)), "audience:"+id+" ") {
			return true
		}
	}
	return false
}

func flat(c *definition.Cond) (all []string) {
	for _, children := range [][]definition.Cond{c.All, c.Any} {
		for i := range children {
			all = append(all, flat(&children[i])...)
		}
	}
	if c.Not != nil {
		all = append(all, flat(c.Not)...)
	}
	if c.Leaf != nil && c.Leaf.Audience != "" {
		all = append(all, "audience:"+c.Leaf.Audience+" ")
	}
	return all
}

// compile puts the definitions in force. Leaves that are new have to be filled; who has
// nothing to wait for is swept.
func (w *world) compile() error {
	var d engine.Definitions
	d.Counts = &w.counts
	for _, key := range w.keys() {
		if r := w.rules[key]; r.audience != nil {
			a := *r.audience
			a.Held = w.held[key]
			d.Audiences = append(d.Audiences, a)
		} else {
			t := *r.trait
			t.Held = w.held[key]
			d.Traits = append(d.Traits, t)
		}
	}
	w.Shuffle(len(d.Audiences), func(i, j int) { d.Audiences[i], d.Audiences[j] = d.Audiences[j], d.Audiences[i] })
	c, err := engine.Compile(d)
	if err != nil {
		return fmt.Errorf("compile: %w", err)
	}
	w.catalogue = c
	fresh := map[engine.LeafID]int64{}
	known := map[engine.LeafID]bool{}
	for _, id := range c.Leaves() {
		known[id] = true
		if w.ready[id] {
			continue
		}
		if l, ok := c.Leaf(id); !ok {
			return fmt.Errorf("there is no leaf %d", id)
		} else if l.History.Full {
			fresh[id] = 0
		} else {
			fresh[id] = w.rules[l.Key].since
		}
	}
	maps.DeleteFunc(w.ready, func(id engine.LeafID, _ bool) bool { return !known[id] })
	w.filling = &fill{leaves: fresh}
	for i := range w.records {
		w.profiles[i] = w.profiles[i].Restart(func(id engine.LeafID) bool { return !w.ready[id] })
		w.filling.left[i] = slices.Sorted(maps.Keys(w.records[i]))
		w.Shuffle(len(w.filling.left[i]), func(a, b int) {
			left := w.filling.left[i]
			left[a], left[b] = left[b], left[a]
		})
	}
	w.note("%d leaves to fill", len(fresh))
	if len(fresh) == 0 || w.chance(30) {
		return w.sweep()
	}
	return w.tellAll(engine.CauseEdit) // of those that have nothing to wait for
}

// tellAll looks at every user.
func (w *world) tellAll(cause engine.Cause) error {
	w.settle()
	for i := range w.people {
		got := w.advance(i, w.now, cause)
		if err := w.compare(got, w.look(w.people[i], w.now, cause)); err != nil {
			return err
		}
	}
	return nil
}

// backfill folds some of what is left into the leaves that are being filled, and sweeps
// when all is done.
func (w *world) backfill() error {
	if w.filling == nil {
		return w.wait(0)
	}
	for i := range w.profiles {
		left := w.filling.left[i]
		n := min(len(left), 1+w.IntN(8))
		for _, offset := range left[:n] {
			r, ok := w.records[i][offset]
			if !ok {
				continue
			}
			call, err := parse(r.value, r.deed, r.at, offset)
			if err != nil {
				return err
			}
			if only := w.filling.only(offset); w.catalogue.Fills(&call, only) {
				w.catalogue.Fold(w.profiles[i], &call, only)
			}
		}
		w.filling.left[i] = left[n:]
	}
	if len(w.filling.left[0])+len(w.filling.left[1]) > 0 {
		return nil
	}
	return w.sweep()
}

// sweep finishes the backfill and looks at every user.
func (w *world) sweep() error {
	if err := w.catchUp(); err != nil {
		return err
	}
	for i := range w.profiles {
		for _, offset := range w.filling.left[i] {
			r, ok := w.records[i][offset]
			if !ok {
				continue
			}
			call, err := parse(r.value, r.deed, r.at, offset)
			if err != nil {
				return err
			}
			w.catalogue.Fold(w.profiles[i], &call, w.filling.only(offset))
		}
	}
	for id := range w.filling.leaves {
		w.ready[id] = true
	}
	w.filling = nil
	w.note("sweep")
	return w.tellAll(engine.CauseSweep)
}

// catchUp has both users told what they are by what is in force so far: what comes into
// force now is not told of the past.
func (w *world) catchUp() error {
	w.settle()
	for i := range w.profiles {
		if err := w.compare(w.advance(i, w.now, engine.CauseTimer), w.pass(w.people[i], w.now)); err != nil {
			return err
		}
	}
	return nil
}

// away has the stage be away for a while, in which definitions change once or twice. What
// did not change is told of what was due meanwhile, and what did, of now.
func (w *world) away() error {
	if err := w.catchUp(); err != nil {
		return err
	}
	until := w.now + pick(w.dice, w.Int64N(day), w.Int64N(40*day))
	if next := w.next(w.people[0], max(w.now, w.people[0].clock)); next < start+1000*day && w.chance(70) {
		until = max(until, next+w.Int64N(day))
	}
	was := make(map[string]string)
	for key, r := range w.rules {
		was[key] = show(r)
	}
	for range 1 + w.IntN(2) {
		w.redefine()
	}
	w.held = make(map[string]bool)
	for range w.rules { // one refers to another, and so on
		for key, r := range w.rules {
			w.held[key] = !r.deleted() && (show(r) != was[key] || r.audience != nil && w.refersToHeld(&r.audience.When))
		}
	}
	if err := w.compile(); err != nil {
		return err
	}
	w.note("away until %d", until)
	w.now = until
	if err := w.catchUp(); err != nil {
		return err
	}
	w.held = nil
	return w.compile()
}

func (w *world) refersToHeld(c *definition.Cond) (refers bool) {
	c.Leaves(func(_ string, l *definition.Leaf) { refers = refers || w.held[l.Audience] || w.held[l.Computed] })
	return refers
}

func (w *world) isReady(id engine.LeafID) bool { return w.ready[id] }

// settle notes, after a compilation, which definitions are told at present.
func (w *world) settle() {
	for key, r := range w.rules {
		r.ready = !w.held[key]
		for _, id := range w.catalogue.Needs(key) {
			r.ready = r.ready && w.ready[id]
		}
	}
}

func (w *world) advance(i int, now int64, cause engine.Cause) []engine.Change {
	return w.catalogue.Advance(w.profiles[i], time.UnixMilli(now), w.isReady, cause)
}

// call has a user do something, now or some time ago.
func (w *world) call(i int) error {
	w.settle()
	w.now += pick(w.dice, 0, 0, 1, w.Int64N(second), w.Int64N(hour))
	received := w.now - pick(w.dice, int64(0), 0, w.Int64N(second))
	at := received - pick(w.dice, int64(0), 0, 0, w.Int64N(10*second), w.Int64N(day), w.Int64N(100*day), -w.Int64N(hour), 400*day)
	d := w.deed(at)
	w.offset++
	d.offset = w.offset
	value := encode(&d, i)
	call, err := parse(value, d, received, w.offset)
	if err != nil {
		return err
	}
	d.at = min(at, received)
	if got := call.At.UnixMilli(); got != d.at {
		return fmt.Errorf("the call is parsed to %d, expected %d", got, d.at)
	}
	w.records[i][w.offset] = record{d, value, received}
	w.note("user %d: %s", i, value)
	p := w.people[i]
	// What an overlay does is undone by dropping it.
	before := w.profiles[i].Append(nil)
	if overlay := w.profiles[i].Clone(); w.chance(50) {
		w.catalogue.Take(overlay, &call, time.UnixMilli(w.now), w.isReady)
		if !bytes.Equal(before, w.profiles[i].Append(nil)) {
			return errors.New("a clone was changed, and its original with it")
		}
	}
	got := w.catalogue.Take(w.profiles[i], &call, time.UnixMilli(w.now), w.isReady)
	want := w.pass(p, w.now)
	p.deeds = append(p.deeds, d)
	want = append(want, w.look(p, w.now, engine.CauseEvent)...)
	return w.compare(got, want)
}

// wait lets time pass, often to just before something changes, or just then.
func (w *world) wait(i int) error {
	w.settle()
	until := w.now + pick(w.dice, w.Int64N(10*second), w.Int64N(day), w.Int64N(40*day))
	if w.chance(70) {
		if next := w.next(w.people[i], max(w.now, w.people[i].clock)); next < math.MaxInt64 && next < start+1000*day {
			until = next - w.Int64N(2)
		}
	}
	if due := w.profiles[i].Due(); !due.IsZero() && w.chance(30) {
		until = due.UnixMilli() - w.Int64N(2)
	}
	w.now = max(w.now, until)
	w.note("user %d waits", i)
	return w.compare(w.advance(i, w.now, engine.CauseTimer), w.pass(w.people[i], w.now))
}

// merge merges the second user into the first.
func (w *world) merge() error {
	w.settle()
	w.note("merge")
	got := w.advance(0, w.now, engine.CauseTimer)
	want := w.pass(w.people[0], w.now)
	w.catalogue.Merge(w.profiles[0], w.profiles[1])
	got = append(got, w.advance(0, w.now, engine.CauseMerge)...)
	p := w.people[0]
	p.deeds = append(p.deeds, w.people[1].deeds...)
	p.clock = max(p.clock, w.people[1].clock)
	want = append(want, w.look(p, max(w.now, p.clock, p.last()), engine.CauseMerge)...)
	maps.Copy(w.records[0], w.records[1])
	if w.filling != nil {
		w.filling.left[0] = append(w.filling.left[0], w.filling.left[1]...)
	}
	w.reset(1)
	return w.compare(got, want)
}

func (w *world) compare(got []engine.Change, want []change) error {
	var have []change
	for _, c := range got {
		value := string(c.Value)
		if c.Class == engine.ClassAudience {
			value = strconv.FormatBool(c.Member)
		}
		have = append(have, change{c.Key, value, c.At.UnixMilli(), c.Cause})
		if c.Cause == engine.CauseTimer {
			w.timers++
		}
	}
	w.told += len(have)
	if !slices.Equal(have, want) {
		return fmt.Errorf("told\n%v, expected\n%v", have, want)
	}
	return nil
}

// check holds a profile against what has to be true of it at any time, and goes on with
// what its record says.
func (w *world) check(i int) error {
	p := w.profiles[i]
	if due := p.Due(); !due.IsZero() && p.Dirty() && due.UnixMilli() <= w.people[i].clock && w.filling == nil {
		return fmt.Errorf("due at %v, and it is %d", due, w.people[i].clock)
	}
	for key, told := range w.people[i].told {
		if r := w.rules[key]; r == nil || r.audience == nil {
			continue
		}
		if got, ok := p.Told(engine.ClassAudience, key); !ok || got.Member != told.member || got.At.UnixMilli() != told.at {
			return fmt.Errorf("%s: told is %v %v, expected %v", key, got, ok, told)
		}
	}
	record := w.catalogue.Append(nil, p)
	read, err := w.catalogue.Decode(record)
	if err != nil {
		return err
	}
	if again := read.Append(nil); !bytes.Equal(again, record) {
		return fmt.Errorf("a record is written as another one:\n%x\n%x", record, again)
	}
	if w.chance(50) {
		w.profiles[i] = read
	}
	return nil
}

func show(r *rule) string {
	var v any = r.trait
	if r.audience != nil {
		v = r.audience
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func encode(d *deed, user int) []byte {
	m := map[string]any{
		"type": d.typ, "messageId": fmt.Sprint("m", d.offset), "anonymousId": fmt.Sprint("anon", user),
		"timestamp": time.UnixMilli(d.at).UTC().Format(schemas.TimeLayout), "receivedAt": "2099-01-01T00:00:00.000Z",
	}
	if d.user {
		m["userId"] = fmt.Sprint("user", user)
	}
	if d.name != "" {
		m[map[bool]string{true: "event", false: "name"}[d.typ == "track"]] = d.name
	}
	for key, object := range map[string]map[string]any{"properties": d.properties, "context": d.context, "traits": d.traits} {
		if object != nil {
			m[key] = object
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	stable, err := stablejson.Append(nil, text)
	if err != nil {
		panic(err)
	}
	return stable
}

func parse(value []byte, d deed, received, offset int64) (engine.Call, error) {
	call := engine.Call{Offset: offset}
	err := engine.ParseCall(&call, value, &schemas.Headers{Source: d.source, Type: schemas.Type(d.typ), Origin: schemas.OriginAPI}, time.UnixMilli(received))
	return call, err
}
