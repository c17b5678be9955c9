package quota

import "time"

// Limits bound the attempts in flight.
type Limits struct {
	Each  int // per destination
	Total int // over all of them
	// First is what a destination may have in flight at first; each delivery lets it
	// have one more, up to Each, so that the backlogs of destinations that hang
	// can't take all slots at once when a sink starts. A destination that is down
	// may have an eighth of Each: its attempts are withheld, which is quick, and many
	// at a time would keep the processor from the attempts of others. Zero: Each.
	First int
}

// Slots are the attempts of one destination. The zero value is that of one that has
// none in flight and has delivered nothing yet.
type Slots struct {
	Firsts, Retries int  // attempts in flight of live events,
	Replays         int  // and of events that a replay sends once more
	Down            bool // the last attempt that showed something was withheld
	Earned          int  // deliveries, up to where they no longer matter; see Limits.First

	needed peak // by live events
}

// InFlight returns how many attempts are in flight.
func (s *Slots) InFlight() int { return s.Firsts + s.Retries + s.Replays }

// Needed notes how many slots live events hold at now. It is called when one gets a slot.
func (s *Slots) Needed(now time.Time) { s.needed.note(s.Firsts+s.Retries, now) }

// Most is how many attempts a destination may have in flight now.
func (l Limits) Most(s *Slots) int {
	switch {
	case l.First == 0:
		return l.Each
	case s.Down:
		return min(l.Each, max(l.First, l.Each/8))
	}
	return min(l.Each, l.First+s.Earned)
}

// step is how many slots a destination leaves free for each that it holds.
const step = 16

// Room reports whether a destination may start one more attempt, when inFlight
// are under way over all destinations.
//
// Beside its own limit, the more a destination has in flight the more it leaves
// free for the others: as much as it has itself, and for each of its own another
// sixteen, up to an eighth of the total. So the many that have nothing or little
// in flight find a slot at once. With a plain limit sixteen dead destinations at 64
// would hold all of 1,024 slots, and the next one would get a slot once in five
// seconds; were only as much left free as each has itself, two hundred that hang
// would leave five slots to eight hundred that do not.
func (l Limits) Room(s *Slots, inFlight int) bool {
	has, free := s.InFlight(), l.Total-inFlight
	return has < l.Most(s) && free > max(has, min(step*has, l.Total/8))
}

// Retry reports whether a retry may start. Retries take half of a destination's
// slots at most, so that fresh events stay fast when a backlog returns.
func (l Limits) Retry(s *Slots, inFlight int) bool {
	return l.Room(s, inFlight) && s.Retries < l.Retries()
}

// Retries are how many slots of a destination retries may hold.
func (l Limits) Retries() int { return max(1, l.Each/2) }

// Replay reports whether an event of a replay may start, where no live one waits. All
// replays together leave half of all slots free: the destinations that they are for may
// hang, and others come with live events.
func (l Limits) Replay(s *Slots, inFlight int, now time.Time) bool {
	return l.Room(s, inFlight) && s.Replays < l.Replays(s, now) && inFlight < max(1, l.Total/2)
}

// Replays are how many slots of a destination replays may hold: those that live events
// have not needed of late, so that as many of them as usual find one, within half of all.
// One at a time goes in any case, or a replay would never end where live events need all.
func (l Limits) Replays(s *Slots, now time.Time) int {
	if s.Down {
		return 1
	}
	most := l.Most(s)
	return max(1, min(most/2, most-s.needed.most(now)))
}
