package state

import (
	"fmt"
	"math"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/event"
)

// MaxRing is the largest ring. Larger counts in a window are kept in buckets.
const MaxRing = 32

// widest is how many buckets a window has at least: a bucket is a 168th of it at most.
const widest = 168

// Spec is what a leaf remembers. Two leaves of one Spec can share their state, if they
// look at the same events.
type Spec struct {
	Form    Form
	Content Content
	Ring    int   // of a ring: how many time stamps, a power of two
	Grain   int64 // milliseconds that a bucket is wide; 0: there is one, all of time
	Keep    int64 // milliseconds after which what is kept may go; 0: never
	Since   int64 // events before do not count; Unix milliseconds
	Until   int64 // events from then on do not count
	Cap     int   // of values: how many are kept
}

// Form is one of the forms of state.
type Form uint8

// The forms.
const (
	Ring Form = iota + 1
	Buckets
	Values
)

// Content is what is kept of the events in a bucket, or of each value.
type Content uint8

// The contents. Those from Times on are of values.
const (
	Counts    Content = iota + 1 // how many events
	Sums                         // how many numbers, and their sum
	Least                        // the least number
	Greatest                     // the greatest number
	Earliest                     // the value of the earliest event
	Latest                       // the value of the latest event
	Times                        // when it came last
	Frequency                    // how often it came, in buckets: what is rare goes first
	Presence                     // the same: what is old goes first
)

// String says it all, in a form that does not change: a leaf's id is made of it.
func (s *Spec) String() string {
	return fmt.Sprintf("%d.%d.%d.%d.%d.%d.%d.%d", s.Form, s.Content, s.Ring, s.Grain, s.Keep, s.Since, s.Until, s.Cap)
}

// Window is the time in which events count, in milliseconds.
type Window struct {
	Rolling   bool
	Far, Near int64 // now-Far < t <= now-Near
}

// WindowOf compiles a window.
func WindowOf(w definition.Window) Window {
	if w.Kind != definition.Within && w.Kind != definition.Between {
		return Window{}
	}
	return Window{Rolling: true, Far: w.Far.Milliseconds(), Near: w.Near.Milliseconds()}
}

func (w Window) holds(at, now int64) bool {
	return !w.Rolling || now-w.Far < at && at <= now-w.Near
}

// edge returns the first instant after now at which what happened at an instant enters
// the window or leaves it.
func (w Window) edge(at, now int64) int64 {
	switch {
	case !w.Rolling:
		return event.Never
	case at+w.Near > now:
		return at + w.Near
	case at+w.Far > now:
		return at + w.Far
	default:
		return event.Never
	}
}

// SpecOf returns what has to be remembered for an aggregate of events in a window. Most
// is, of a count, the largest one that makes a difference, and of values how many are to
// be kept.
func SpecOf(take definition.Aggregate, w definition.Window, most int) Spec {
	s := Spec{Form: Buckets, Since: math.MinInt64, Until: math.MaxInt64}
	if w.Kind == definition.Since {
		s.Since = w.Since.UnixMilli()
		if !w.Until.IsZero() {
			s.Until = w.Until.UnixMilli()
		}
	}
	window := WindowOf(w)
	if window.Rolling {
		s.Keep, s.Grain = window.Far, grain(window.Far)
	}
	switch take {
	case definition.Sum, definition.Avg:
		s.Content = Sums
	case definition.Min:
		s.Content = Least
	case definition.Max:
		s.Content = Greatest
	case definition.First:
		s.Content = Earliest
	case definition.Last:
		s.Content = Latest
		if window.Near == 0 { // of all the latest ones the latest is enough
			s.Keep, s.Grain = 0, 0
		}
	case definition.MostFrequent:
		s.Form, s.Content, s.Cap = Values, Frequency, most
	case definition.Unique, definition.UniqueCount:
		s.Form, s.Content, s.Cap = Values, Presence, most
		if window.Near == 0 {
			s.Content, s.Grain = Times, 0
		}
	default:
		s.count(window, most)
	}
	return s
}

func (s *Spec) count(w Window, most int) {
	s.Content = Counts
	if !w.Rolling || w.Near > 0 || most > MaxRing {
		return
	}
	s.Form, s.Ring, s.Keep, s.Grain = Ring, 1, 0, 0
	for s.Ring < most {
		s.Ring *= 2
	}
}

// grains are the widths of buckets, in milliseconds.
var grains = [...]int64{
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3,
	60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, hour, 2 * hour, 4 * hour, 6 * hour, 12 * hour,
	day, 2 * day, 4 * day, 7 * day, 14 * day, 28 * day,
}

const (
	hour = 3_600_000
	day  = 24 * hour
)

// grain returns the width of buckets for a window.
func grain(far int64) int64 {
	width := grains[0]
	for _, g := range grains {
		if g <= far/widest {
			width = g
		}
	}
	return width
}

// index returns the bucket that an instant is in.
func (s *Spec) index(at int64) int64 {
	if s.Grain == 0 {
		return 0
	}
	index := at / s.Grain
	if at%s.Grain < 0 {
		index--
	}
	return index
}

// At returns the instant at which an event counts as having happened: the start of its
// bucket, or its own.
func (s *Spec) At(at int64) int64 {
	if s.Grain == 0 {
		return at
	}
	return s.at(s.index(at))
}

// at returns the start of a bucket.
func (s *Spec) at(index int64) int64 { return index * s.Grain }

// gone reports whether what counts as of an instant can't matter any more.
func (s *Spec) gone(at, clock int64) bool { return s.Keep > 0 && at <= clock-s.Keep }

// Event is what goes into a state.
type Event struct {
	At     int64  // Unix milliseconds
	Offset int64  // of two events with one At, the later one has the higher
	Value  []byte // stable JSON; nil: none, or of a trait that it is unset
	Number float64
}

// Takes reports whether a state takes an event in, when time has come to clock. False:
// it is outside of the period, or, which late tells, too old to matter.
func (s *Spec) Takes(at, clock int64) (takes, late bool) {
	if at < s.Since || at >= s.Until {
		return false, false
	}
	late = s.gone(s.At(at), clock)
	return !late, late
}

// State is what is remembered of one user.
type State interface {
	// Fold takes in an event that the Spec takes. It reports whether that has changed
	// anything, and how many values had to go for it.
	Fold(s *Spec, e Event) (changed bool, dropped int)
	// Merge takes in all that another state of the same Spec has.
	Merge(s *Spec, other State) (dropped int)
	// Append appends the state as it is stored, without what is gone by then.
	Append(dst []byte, s *Spec, clock int64) []byte
	// Clone returns a copy that can be changed.
	Clone() State
	// Shed lets go of the older half of what it keeps, or of a long value, and reports
	// whether there was any.
	Shed(s *Spec) bool

	// value answers a query for a user with events.
	value(q *Query, now int64) Got
	// edge returns the first instant after now at which the value may change.
	edge(q *Query, now int64) int64
}

// New returns the state of a user without events.
func (s *Spec) New() State {
	switch s.Form {
	case Ring:
		return &ring{}
	case Values:
		return &values{}
	default:
		return &buckets{}
	}
}

// Decode reads what Append wrote. The state holds on to raw.
func (s *Spec) Decode(raw []byte) (State, error) {
	r := Reader{Rest: raw}
	var st State
	switch s.Form {
	case Ring:
		st = decodeRing(&r, s)
	case Values:
		st = decodeValues(&r, s)
	default:
		st = decodeBuckets(&r, s)
	}
	if r.Failed || len(r.Rest) > 0 {
		return nil, ErrBroken
	}
	return st, nil
}
