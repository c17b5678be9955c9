package engine

import (
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/stablejson"
	"github.com/anabranch/anabranch/personas/internal/event"
	"github.com/anabranch/anabranch/personas/internal/state"
	"github.com/anabranch/anabranch/schemas"
)

var fullHistory = definition.History{Full: true}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Take is what is done with a live call at the time now, which is not before it was
// received: Advance to now, Fold, Advance to now. A call that comes late changes what is
// true now; what was told of the time before stays as it was.
func (c *Catalogue) Take(p *Profile, call *Call, now time.Time, ready func(LeafID) bool) []Change {
	changes := c.Advance(p, now, ready, CauseTimer)
	c.Fold(p, call, nil)
	return append(changes, c.Advance(p, now, ready, CauseEvent)...)
}

// Fold takes a call into the state of its user. Only is nil for live calls, which go to
// all leaves; a backfill names those that it fills. Folds commute, and a call that is of
// personas' own making is ignored. Live calls are better taken by [Catalogue.Take]: what
// is due before the call has to be told first (Advance), or the state may no longer have
// what it depended on.
func (c *Catalogue) Fold(p *Profile, call *Call, only func(LeafID) bool) {
	if call.Own {
		return
	}
	p.bind(c)
	p.see(call)
	if call.Future && only == nil {
		c.counts.Future.Add(1)
	}
	at := call.At.UnixMilli()
	switch call.Type {
	case schemas.TypeTrack:
		c.foldEvent(p, call, at, only, c.events[eventKey{call.Type, call.Name}])
	case schemas.TypePage, schemas.TypeScreen:
		c.foldEvent(p, call, at, only, c.events[eventKey{call.Type, call.Name}])
		c.foldEvent(p, call, at, only, c.events[eventKey{call.Type, anyName}])
	case schemas.TypeIdentify:
		c.foldTraits(p, call, at, only)
	default:
	}
}

func (c *Catalogue) foldEvent(p *Profile, call *Call, at int64, only func(LeafID) bool, selections []*selection) {
	for _, s := range selections {
		if !s.matches.Matches(call) {
			continue
		}
		for _, l := range s.leaves {
			if only != nil && !only(l.id) {
				continue
			}
			e := state.Event{At: at, Offset: call.Offset}
			if l.valued && !c.value(l, call, &e) {
				continue
			}
			c.foldLeaf(p, l, e, only == nil)
		}
	}
}

// value finds the value that a leaf needs. False: the event has none that counts.
func (c *Catalogue) value(l *leaf, call *Call, e *state.Event) bool {
	e.Value = l.of.Find(call)
	if e.Value == nil {
		return false
	}
	switch l.spec.Content {
	case state.Sums, state.Least, state.Greatest:
		var ok bool
		if e.Number, ok = event.Number(e.Value); !ok {
			c.counts.NotNumbers.Add(1)
		}
		return ok
	default:
	}
	if len(e.Value) > MaxValueBytes {
		c.counts.TooLong.Add(1)
		return false
	}
	return true
}

// foldTraits takes in the traits of an identify call. One that is there replaces all that
// was known of it, so that what lies within an object is then as that object says.
func (c *Catalogue) foldTraits(p *Profile, call *Call, at int64, only func(LeafID) bool) {
	if len(c.traits) == 0 {
		return
	}
	members := event.MembersOf(call.Traits)
	for {
		key, value, ok := members.Next()
		if !ok {
			return
		}
		for _, l := range c.traits {
			if string(l.trait) == string(key) && (only == nil || only(l.id)) {
				c.foldLeaf(p, l, state.Event{At: at, Offset: call.Offset, Value: c.traitValue(l, value)}, only == nil)
			}
		}
	}
}

// traitValue returns the value of a trait, nil for one that is unset.
func (c *Catalogue) traitValue(l *leaf, value []byte) []byte {
	value = l.within.Find(value)
	if len(value) > MaxValueBytes {
		c.counts.TooLong.Add(1)
		return nil
	}
	if stablejson.KindOf(value) == stablejson.KindNull {
		return nil
	}
	return value
}

func (c *Catalogue) foldLeaf(p *Profile, l *leaf, e state.Event, live bool) {
	takes, late := l.spec.Takes(e.At, max(p.clock, p.last))
	if late && live {
		c.counts.Old.Add(1)
	}
	if !takes {
		return
	}
	changed, dropped := p.mutable(l).Fold(&l.spec, e)
	if dropped > 0 {
		c.counts.Dropped.Add(int64(dropped))
	}
	if changed {
		p.dirty = true
		p.touched.add(l.concern)
	}
}

// Merge folds all that is known of one user into another one, who survives. What into was
// told stays; what from was told is forgotten. Links of from go over; from itself is
// added by the caller ([Profile.Link]). What is due of into has to be told before
// ([Catalogue.Advance] with CauseTimer), and what the merge changes next, with CauseMerge.
func (c *Catalogue) Merge(into, from *Profile) {
	into.bind(c)
	from.bind(c)
	into.full, into.dirty = true, true
	into.clock = max(into.clock, from.clock)
	into.identified = into.identified || from.identified
	if from.seen {
		into.seeAt(from.first)
		into.seeAt(from.last)
	}
	for _, source := range from.sources {
		into.sawSource(source)
	}
	for _, link := range from.Links {
		into.Link(link.ID, link.At)
	}
	for _, refused := range from.Refused {
		into.Refuse(refused.ID, refused.At)
	}
	for i := range from.entries {
		l := c.find(from.entries[i].id)
		if l == nil {
			continue
		}
		if dropped := into.mutable(l).Merge(&l.spec, from.state(l)); dropped > 0 {
			c.counts.Dropped.Add(int64(dropped))
		}
	}
}
