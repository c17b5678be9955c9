package state

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/anabranch/anabranch/personas/internal/event"
)

// buckets is events added up by time, ascending. There is none for a time without
// events, and at most one if the Spec has no Grain.
type buckets struct{ all []bucket }

type bucket struct {
	index int64
	n     int64
	sum   float64
	pick  *pick // of the contents that are one value; never changed
}

// pick is the value that stands for a bucket.
type pick struct {
	at, offset int64  // of Earliest and Latest
	raw        []byte // nil: an unset trait
	number     float64
}

func (b *buckets) Fold(s *Spec, e Event) (changed bool, dropped int) {
	one := bucket{index: s.index(e.At), n: 1}
	switch s.Content {
	case Counts:
	case Sums:
		one.sum = e.Number
	default:
		one.pick = &pick{e.At, e.Offset, bytes.Clone(e.Value), e.Number}
	}
	changed = b.add(s, one)
	b.prune(s, e.At)
	return changed, 0
}

// prune lets go of what is too old to matter once clock has come, so that a state that is
// kept in memory does not grow.
func (b *buckets) prune(s *Spec, clock int64) {
	gone := 0
	for gone < len(b.all) && s.gone(s.at(b.all[gone].index), clock) {
		gone++
	}
	b.all = slices.Delete(b.all, 0, gone)
}

// add merges a bucket into that of its time.
func (b *buckets) add(s *Spec, one bucket) (changed bool) {
	place := len(b.all)
	if place > 0 && b.all[place-1].index >= one.index { // the usual case is the last one
		place, _ = slices.BinarySearchFunc(b.all, one.index, func(b bucket, index int64) int { return cmp.Compare(b.index, index) })
	}
	if place == len(b.all) || b.all[place].index != one.index {
		b.all = slices.Insert(b.all, place, one)
		return true
	}
	at := &b.all[place]
	if one.pick != nil {
		if !s.Content.prefers(one.pick, at.pick) {
			return false
		}
		at.pick = one.pick
		return true
	}
	at.n += one.n
	at.sum = addUp(at.sum, one.sum)
	return true
}

// prefers reports whether a goes before b.
func (c Content) prefers(a, b *pick) bool {
	switch c {
	case Least:
		return a.number < b.number
	case Greatest:
		return a.number > b.number
	case Earliest:
		return a.compare(b) < 0
	default:
		return a.compare(b) > 0
	}
}

// compare orders by time, then by the place in the log. The value comes last: of two
// merged users both may be equal.
func (a *pick) compare(b *pick) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.offset, b.offset), bytes.Compare(a.raw, b.raw))
}

func (b *buckets) Merge(s *Spec, other State) (dropped int) {
	if o, ok := other.(*buckets); ok {
		for _, one := range o.all {
			b.add(s, one)
		}
	}
	return 0
}

func (b *buckets) Clone() State { return &buckets{slices.Clone(b.all)} }

func (b *buckets) Shed(*Spec) bool {
	const long = 64 // bytes; a shorter value saves nothing
	if half := len(b.all) / 2; half > 0 {
		b.all = slices.Delete(b.all, 0, half)
		return true
	}
	if len(b.all) == 0 || b.all[0].pick == nil || len(b.all[0].pick.raw) < long {
		return false
	}
	unset := *b.all[0].pick
	unset.raw = nil
	b.all[0].pick = &unset
	return true
}

func (b *buckets) value(q *Query, now int64) Got {
	var total bucket
	for i := len(b.all) - 1; i >= 0; i-- {
		if !q.holds(&b.all[i], now) {
			continue
		}
		total.take(q.Spec, &b.all[i])
	}
	return total.got(q)
}

// holds reports whether a bucket is in the window.
func (q *Query) holds(b *bucket, now int64) bool { return q.Window.holds(q.at(b), now) }

// at returns when a bucket counts as having happened. Of what has only one bucket, the
// latest value, it is when that came.
func (q *Query) at(b *bucket) int64 {
	if q.Spec.Grain == 0 && b.pick != nil {
		return b.pick.at
	}
	return q.Spec.at(b.index)
}

// take adds a bucket to a total.
func (b *bucket) take(s *Spec, one *bucket) {
	b.n += one.n
	b.sum = addUp(b.sum, one.sum)
	if one.pick != nil && (b.pick == nil || s.Content.prefers(one.pick, b.pick)) {
		b.pick = one.pick
	}
}

func (b *buckets) edge(q *Query, now int64) int64 {
	edge := int64(event.Never)
	for i := range b.all {
		edge = min(edge, q.Window.edge(q.at(&b.all[i]), now))
		if q.Window.Near == 0 && edge != event.Never {
			break // they are ascending, and so are their ends
		}
	}
	return edge
}

// flips is [Query.Flips] for counts and sums in a window that ends now, in one pass: from
// the newest bucket on, each total is what is left when all before it have gone.
func (b *buckets) flips(q *Query, test event.Test, now int64) int64 {
	var total bucket
	var edge [2]int64 // when it is first false, true
	edge[0], edge[1] = event.Never, event.Never
	truth := index(test.Holds(total.got(q).Value(), now))
	for i := len(b.all) - 1; i >= 0 && q.holds(&b.all[i], now); i-- {
		edge[truth] = q.at(&b.all[i]) + q.Window.Far
		total.take(q.Spec, &b.all[i])
		truth = index(test.Holds(total.got(q).Value(), now))
	}
	return edge[1-truth]
}

// addUp adds two sums. What is too large for a float64 stays the largest that there is:
// an infinite sum has no JSON.
func addUp(a, b float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, a+b))
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}
