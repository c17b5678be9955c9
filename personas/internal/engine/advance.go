package engine

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"time"

	"github.com/anabranch/anabranch/personas/internal/event"
)

// Advance evaluates what the calls folded since, or the cause, may have changed, at each
// due instant up to now, in order, and then at now. It marks as told what it returns, and
// sets when it is due again: strictly later than now. Ready is nil, or says which leaves
// are filled: of a definition that needs another one nothing is told.
//
// With CauseEvent and CauseTimer only what may have changed is looked at; with the other
// causes every definition is. Now is in whole milliseconds; for a user time does not go
// back: before the latest event, or the last evaluation, it is taken for that.
func (c *Catalogue) Advance(p *Profile, now time.Time, ready func(LeafID) bool, cause Cause) []Change {
	p.bind(c)
	base := max(p.clock, p.last)
	t := max(now.UnixMilli(), base)
	if !p.pending() && cause.timed() && (p.due == 0 || p.due > t) {
		p.clock = t
		return nil // nothing to do: the usual case before a call
	}
	run := advance{c: c, p: p, ready: ready}
	memo, _ := c.memo.Get().(*[]result)
	defer c.memo.Put(memo)
	run.memo = *memo
	for p.due != 0 && p.due <= t {
		run.at(max(p.due, base), CauseTimer, true)
	}
	switch {
	case !cause.timed():
		run.at(t, cause, true)
	case cause == CauseEvent && p.pending():
		run.at(t, cause, p.full)
	}
	p.clock = t
	return run.changes
}

// timed reports whether only what may have changed is looked at.
func (c Cause) timed() bool { return c == CauseEvent || c == CauseTimer }

// advance is one run of Advance.
type advance struct {
	c       *Catalogue
	p       *Profile
	ready   func(LeafID) bool
	memo    []result
	changes []Change
}

// at evaluates at an instant: all definitions, or those that calls have touched.
func (a *advance) at(now int64, cause Cause, all bool) {
	clear(a.memo)
	next := int64(event.Never)
	if all {
		for _, d := range a.c.told {
			next = min(next, a.evaluate(d, now, cause))
		}
	} else {
		if a.p.due != 0 {
			next = a.p.due
		}
		a.p.touched.each(func(i int) { next = min(next, a.evaluate(a.c.told[i], now, cause)) })
	}
	if all {
		a.p.full = false
	}
	clear(a.p.touched)
	if next == event.Never {
		next = 0
	}
	if next != a.p.due {
		a.p.due, a.p.dirty = next, true
	}
}

// evaluate looks at one definition, and returns the first instant at which that has to be
// done again.
func (a *advance) evaluate(d *computation, now int64, cause Cause) (next int64) {
	told := a.p.find(d.told)
	counts := d.counts(a.p)
	if !a.p.seen || !counts && told == nil || !a.isReady(d) {
		return event.Never
	}
	var truth truth
	if counts {
		truth = a.truth(d, told, now, cause)
	} else { // any more, by an edit: as if the user had done nothing
		truth = a.nothing(d, told)
	}
	if !truth.differs {
		return truth.next
	}
	every := d.every
	if d.deleted {
		every = 0
	}
	if told != nil && now < told.at+every {
		return min(truth.next, told.at+every)
	}
	at := now
	if cause == CauseEvent && every == 0 { // else the time since is counted from when it was told
		at = min(now, a.p.last)
	}
	if told != nil {
		at = max(at, told.at+every)
	}
	a.tell(d, &truth, at, cause)
	return truth.next
}

// truth is what holds of a user by a definition.
type truth struct {
	member  bool
	value   []byte // of a computed trait
	digest  []byte // of the value
	differs bool   // from what was told
	next    int64  // when it may be another
}

func (a *advance) truth(d *computation, told *told, now int64, cause Cause) truth {
	member := told != nil && told.member
	switch {
	case d.deleted: // which is told by a sweep, not whenever the user does something
		return truth{next: event.Never, differs: member && !cause.timed()}
	case d.node != nil:
		r := d.node.eval(a.p, now, a.memo)
		return truth{member: r.holds, next: r.flips, differs: r.holds != member}
	}
	st := a.p.state(d.leaf)
	got := d.query.Get(st, now)
	t := truth{value: got.JSON(), next: d.query.Edge(st, now)}
	t.digest = digestOf(t.value)
	if told == nil {
		t.differs = !got.Empty // who never had a value is told none
	} else {
		t.differs = !bytes.Equal(told.digest, t.digest)
	}
	return t
}

// counts reports whether a user does, as one with an id or because those without do too.
func (d *computation) counts(p *Profile) bool { return p.identified || d.anonymous }

// nothing is the truth of a user who does not count, and was told something.
func (a *advance) nothing(d *computation, told *told) truth {
	if d.node != nil {
		return truth{next: event.Never, differs: told.member}
	}
	got := d.query.Get(nil, a.p.clock)
	t := truth{value: got.JSON(), next: event.Never}
	t.digest = digestOf(t.value)
	t.differs = !bytes.Equal(told.digest, t.digest)
	return t
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tell notes a change as told.
func (a *advance) tell(d *computation, t *truth, at int64, cause Cause) {
	a.p.seq++
	a.p.tell(told{id: d.told, at: at, member: t.member, digest: t.digest})
	a.p.dirty = true
	a.changes = append(a.changes, Change{
		Class: d.class, Key: d.key, ID: d.key, Version: d.version, Member: t.member, Value: bytes.Clone(t.value),
		At: time.UnixMilli(at).UTC(), Cause: cause, Seq: a.p.seq,
	})
}

func (a *advance) isReady(d *computation) bool {
	if a.ready == nil || d.deleted {
		return true
	}
	if (d.seen || d.fresh) && !a.ready(LeafSeen) {
		return false
	}
	for _, l := range d.needs {
		if !a.ready(l.id) {
			return false
		}
	}
	return true
}

// digestOf returns what is kept of a told value, to know another one by: the value, or a
// hash of a longer one.
func digestOf(value []byte) []byte {
	const short = 8
	if len(value) <= short {
		return value
	}
	h := fnv.New64a()
	h.Write(value)
	return binary.BigEndian.AppendUint64([]byte{0}, h.Sum64())
}
