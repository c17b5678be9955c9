package state

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/anabranch/anabranch/personas/internal/event"
)

// values is the values that a user has had, in the order of event.Compare.
type values struct{ all []entry }

type entry struct {
	raw    []byte
	last   int64   // when it came last; of Frequency, to its bucket
	counts []tally // of Frequency, ascending
}

type tally struct{ index, n int64 }

func (v *values) Fold(s *Spec, e Event) (changed bool, dropped int) {
	one := entry{raw: e.Value, last: s.At(e.At)}
	if s.Content != Times {
		one.counts = []tally{{s.index(e.At), 1}}
	}
	changed = v.add(one)
	dropped = v.bound(s)
	v.prune(s, e.At)
	return changed, dropped
}

// prune lets go of what is too old to matter once clock has come, so that a state that is
// kept in memory does not grow.
func (v *values) prune(s *Spec, clock int64) {
	if s.Keep == 0 {
		return
	}
	v.all = slices.DeleteFunc(v.all, func(e entry) bool { return s.gone(e.last, clock) })
	for i := range v.all {
		e := &v.all[i]
		gone := 0
		for gone < len(e.counts) && s.gone(s.at(e.counts[gone].index), clock) {
			gone++
		}
		e.counts = e.counts[gone:]
	}
}

// add merges the entry of a value into the one that there is.
func (v *values) add(one entry) (changed bool) {
	place, found := slices.BinarySearchFunc(v.all, one.raw, func(e entry, raw []byte) int { return event.Compare(e.raw, raw) })
	if !found {
		one.raw = bytes.Clone(one.raw)
		v.all = slices.Insert(v.all, place, one)
		return true
	}
	at := &v.all[place]
	changed = one.last > at.last || len(one.counts) > 0
	at.last = max(at.last, one.last)
	for _, t := range one.counts {
		at.count(t)
	}
	return changed
}

func (e *entry) count(t tally) {
	place, found := slices.BinarySearchFunc(e.counts, t.index, func(t tally, index int64) int { return cmp.Compare(t.index, index) })
	if found {
		e.counts[place].n += t.n
		return
	}
	e.counts = slices.Insert(e.counts, place, t)
}

// bound lets values go until there are as many as may be.
func (v *values) bound(s *Spec) (dropped int) {
	for ; len(v.all) > s.Cap; dropped++ {
		least := 0
		for i := range v.all {
			if v.all[i].before(&v.all[least], s.Content) <= 0 { // of equal ones the last in order
				least = i
			}
		}
		v.all = slices.Delete(v.all, least, least+1)
	}
	return dropped
}

// before orders what goes: the oldest first, but the rarest where it is counted how often
// values came.
func (e *entry) before(other *entry, c Content) int {
	if c == Frequency {
		return cmp.Or(cmp.Compare(e.total(), other.total()), cmp.Compare(e.last, other.last))
	}
	return cmp.Compare(e.last, other.last)
}

func (e *entry) total() (n int64) {
	for _, t := range e.counts {
		n += t.n
	}
	return n
}

func (v *values) Merge(s *Spec, other State) (dropped int) {
	o, ok := other.(*values)
	if !ok {
		return 0
	}
	for _, one := range o.all {
		one.counts = slices.Clone(one.counts)
		v.add(one)
	}
	return v.bound(s)
}

func (v *values) Clone() State {
	all := slices.Clone(v.all)
	for i := range all {
		all[i].counts = slices.Clone(all[i].counts)
	}
	return &values{all}
}

func (v *values) Shed(s *Spec) bool {
	return v.bound(&Spec{Cap: len(v.all) / 2, Content: s.Content}) > 0
}

// present returns how often a value came in the window.
func (e *entry) present(q *Query, now int64) (n int64) {
	if q.Spec.Content == Times {
		return int64(index(q.Window.holds(e.last, now)))
	}
	for _, t := range e.counts {
		if q.Window.holds(q.Spec.at(t.index), now) {
			n += t.n
		}
	}
	return n
}

func (v *values) value(q *Query, now int64) Got {
	var list [][]byte
	best, most, different := -1, int64(0), 0
	for i := range v.all {
		n := v.all[i].present(q, now)
		if n == 0 {
			continue
		}
		different++
		if n > most { // of equal ones the first in order
			best, most = i, n
		}
		if q.Take == unique {
			list = append(list, v.all[i].raw)
		}
	}
	switch {
	case q.Take == unique:
		return Got{raw: appendList(nil, list), Empty: different == 0}
	case q.Take == uniqueCount:
		return Got{Number: float64(different), isNumber: true, Empty: different == 0}
	case best >= 0 && most >= int64(q.AtLeast):
		return Got{raw: v.all[best].raw}
	default:
		return Got{Empty: true}
	}
}

func appendList(dst []byte, list [][]byte) []byte {
	dst = append(dst, '[')
	for i, raw := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, raw...)
	}
	return append(dst, ']')
}

func (v *values) edge(q *Query, now int64) int64 {
	edge := int64(event.Never)
	for i := range v.all {
		e := &v.all[i]
		if q.Spec.Content == Times {
			edge = min(edge, q.Window.edge(e.last, now))
			continue
		}
		for _, t := range e.counts {
			edge = min(edge, q.Window.edge(q.Spec.at(t.index), now))
		}
	}
	return edge
}
