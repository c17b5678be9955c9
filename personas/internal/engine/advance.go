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
	if !a.p.seen || !a.p.identified && !d.anonymous || !a.isReady(d) {
		return event.Never
	}
	change := Change{Class: d.class, Key: d.key, ID: d.key, Version: d.version, Cause: cause}
	told := a.p.find(d.told)
	var digest []byte
	differs := false
	switch {
	case d.deleted:
		next, differs = event.Never, told != nil && told.member && !cause.timed()
	case d.node != nil:
		r := d.node.eval(a.p, now, a.memo)
		next, change.Member = r.flips, r.holds
		differs = r.holds != (told != nil && told.member)
	default:
		st := a.p.state(d.leaf)
		got := d.query.Get(st, now)
		next, change.Value = d.query.Edge(st, now), got.JSON()
		digest = digestOf(change.Value)
		// A user who never had a value is told none.
		differs = told == nil && !got.Empty || told != nil && !bytes.Equal(told.digest, digest)
	}
	if !differs {
		return next
	}
	if told != nil && !d.deleted && now < told.at+d.every {
		return min(next, told.at+d.every)
	}
	at := now
	if cause == CauseEvent {
		at = min(now, a.p.last)
	}
	if told != nil {
		at = max(at, told.at+d.every*int64(1-index(d.deleted)))
	}
	a.tell(d, change, at, digest)
	return next
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tell notes a change as told.
func (a *advance) tell(d *computation, change Change, at int64, digest []byte) {
	a.p.seq++
	change.Seq, change.At = a.p.seq, time.UnixMilli(at).UTC()
	if change.Value != nil {
		change.Value = bytes.Clone(change.Value)
	}
	a.p.tell(told{id: d.told, at: at, member: change.Member, digest: digest})
	a.p.dirty = true
	a.changes = append(a.changes, change)
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
