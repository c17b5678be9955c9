package state

import (
	"slices"

	"github.com/anabranch/anabranch/personas/internal/event"
)

// ring is the latest time stamps of events, the latest first.
type ring struct{ times []int64 }

func (r *ring) Fold(s *Spec, e Event) (changed bool, dropped int) {
	if len(r.times) >= s.Ring && e.At <= r.times[len(r.times)-1] {
		return false, 0
	}
	place, _ := slices.BinarySearchFunc(r.times, e.At, latestFirst)
	if len(r.times) >= s.Ring {
		r.times = r.times[:s.Ring-1]
	}
	r.times = slices.Insert(r.times, place, e.At)
	return true, 0
}

func latestFirst(a, b int64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	default:
		return 0
	}
}

func (r *ring) Merge(s *Spec, other State) (dropped int) {
	if o, ok := other.(*ring); ok {
		for _, at := range o.times {
			r.Fold(s, Event{At: at})
		}
	}
	return 0
}

func (r *ring) Append(dst []byte, _ *Spec, _ int64) []byte {
	last := epoch
	for i, at := range r.times {
		if i == 0 {
			dst = appendSigned(dst, at-last)
		} else {
			dst = appendUnsigned(dst, uint64(last-at))
		}
		last = at
	}
	return dst
}

func decodeRing(r *Reader, s *Spec) *ring {
	st := &ring{}
	last := epoch
	for len(r.Rest) > 0 && !r.Failed {
		if len(st.times) == 0 {
			last += r.Signed()
		} else {
			last -= int64(r.Unsigned())
		}
		if len(st.times) == s.Ring || len(st.times) > 0 && last > st.times[len(st.times)-1] {
			r.Failed = true
			break
		}
		st.times = append(st.times, last)
	}
	return st
}

func (r *ring) Clone() State { return &ring{slices.Clone(r.times)} }

func (r *ring) Shed(*Spec) bool { return false }

func (r *ring) value(q *Query, now int64) Got {
	n := 0
	for n < len(r.times) && q.Window.holds(r.times[n], now) {
		n++
	}
	return Got{Number: float64(n), isNumber: true, Empty: n == 0}
}

func (r *ring) edge(q *Query, now int64) int64 {
	for _, at := range slices.Backward(r.times) {
		if edge := q.Window.edge(at, now); edge != event.Never {
			return edge
		}
	}
	return event.Never
}
