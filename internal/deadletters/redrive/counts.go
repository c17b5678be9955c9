package redrive

import (
	"cmp"
	"maps"
	"slices"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/schemas"
)

// counts is how many dead letters of each kind there were. It grows with
// destinations and reasons, not with dead letters.
type counts map[kind]int

type kind struct {
	destination string
	reason      schemas.Reason
	verdict     verdict
}

func (c counts) add(l *deadletters.Letter, v verdict) {
	c[kind{l.Headers.Destination, l.Headers.Reason, v}]++
}

func (c counts) total(v verdict) int {
	n := 0
	for k, count := range c {
		if k.verdict == v {
			n += count
		}
	}
	return n
}

func (c counts) sum() int {
	n := 0
	for _, count := range c {
		n += count
	}
	return n
}

// sorted returns the kinds by verdict, what is sent first, then by destination
// and reason.
func (c counts) sorted() []kind {
	return slices.SortedFunc(maps.Keys(c), func(a, b kind) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.destination, b.destination), cmp.Compare(a.reason, b.reason))
	})
}
