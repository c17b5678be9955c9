package event

import (
	"slices"

	"github.com/anabranch/anabranch/internal/definition"
)

// Selection says which calls of one type and name count, compiled.
type Selection struct {
	where   [][]predicate
	sources []string
	except  bool // the sources are those that do not count
}

type predicate struct {
	of   Of
	test Test
}

// SelectionOf compiles the filters of an event.
func SelectionOf(e *definition.Event) Selection {
	s := Selection{sources: slices.Sorted(slices.Values(e.Sources))}
	if len(e.ExceptSources) > 0 {
		s.sources, s.except = slices.Sorted(slices.Values(e.ExceptSources)), true
	}
	for _, all := range e.Where {
		predicates := make([]predicate, len(all))
		for i, p := range all {
			predicates[i] = predicate{OfCall(p.Path), TestOf(p.Test)}
		}
		s.where = append(s.where, predicates)
	}
	return s
}

// Matches reports whether a call of the right type and name counts. Tests that are
// relative to an instant are so to when it happened: a filter does not change its mind.
func (s *Selection) Matches(call *Call) bool {
	if len(s.sources) > 0 {
		_, listed := slices.BinarySearch(s.sources, call.Source)
		if listed == s.except {
			return false
		}
	}
	if len(s.where) == 0 {
		return true
	}
	at := call.At.UnixMilli()
	for _, all := range s.where {
		if matchesAll(all, call, at) {
			return true
		}
	}
	return false
}

func matchesAll(all []predicate, call *Call, at int64) bool {
	for i := range all {
		if !all[i].test.Holds(ValueOf(all[i].of.Find(call)), at) {
			return false
		}
	}
	return true
}
