package messagetrace

import (
	"slices"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// share gives attempts to the calls that they are of, of calls that have one fingerprint:
// the same call sent twice, both of which were routed since copies are not told, or no
// longer. Calls are in the order of raw-events, which is that of the destination's topic
// too; attempts of retries follow on the attempt that put the event there.
func share(calls []*facts, tries []try) {
	slices.SortStableFunc(tries, func(a, b try) int { return a.At.Compare(b.At) })
	for _, f := range calls {
		f.tries = nil
	}
	calls = slices.DeleteFunc(slices.Clone(calls), (*facts).ends)
	if len(calls) == 0 {
		return
	}
	first := make(map[string][]int64) // offsets on a destination's topic
	for i := range tries {
		t := &tries[i]
		if id, own := schemas.RoutedTo(t.from); own && id == t.Destination && !slices.Contains(first[t.from], t.Offset) {
			first[t.from] = append(first[t.from], t.Offset)
		}
	}
	for _, offsets := range first {
		slices.Sort(offsets)
	}
	for i := range tries {
		t := &tries[i]
		f := calls[len(calls)-1]
		if n := slices.Index(first[t.from], t.Offset); n >= 0 {
			f = calls[firstOf(calls, n, t)]
		} else if by := retriedOf(calls, t); by != nil {
			f = by
		}
		f.tries = append(f.tries, *t)
	}
}

// ends reports whether the call ended at the router, as a copy does: no attempt is of it.
func (f *facts) ends() bool {
	return f.offset < 0 || f.routing != nil && f.routing.Result != journal.Routed
}

// firstOf is the call whose event stands at the nth offset of a destination's topic. What
// is beyond the calls was redriven, for the call that has such a dead letter.
func firstOf(calls []*facts, n int, t *try) int {
	if n < len(calls) {
		return n
	}
	i := slices.IndexFunc(calls, func(f *facts) bool {
		return slices.ContainsFunc(f.letters, func(l letter) bool { return l.destination == t.Destination && l.RedrivenAt != nil })
	})
	return max(i, 0)
}

// retriedOf is the call whose event waited where a retry was read, and of several that
// which was due nearest to it.
func retriedOf(calls []*facts, t *try) (by *facts) {
	least := time.Duration(-1)
	for _, f := range calls {
		i := len(f.tries) - 1
		for i >= 0 && f.tries[i].Destination != t.Destination {
			i--
		}
		if i < 0 || !f.tries[i].Outcome.Waits() || f.tries[i].Topic != t.from {
			continue
		}
		if off := t.At.Sub(f.tries[i].Until).Abs(); least < 0 || off < least {
			by, least = f, off
		}
	}
	return by
}
