package dispatch

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

// each is how many attempts a destination may have in flight now.
func (l Limits) each(q *queue) int {
	switch {
	case l.First == 0:
		return l.Each
	case q.down:
		return min(l.Each, max(l.First, l.Each/8))
	}
	return min(l.Each, l.First+q.earned)
}

// step is how many slots a destination leaves free for each that it holds.
const step = 16

// room reports whether a destination may start one more attempt, when inFlight
// are under way over all destinations.
//
// Beside its own limit, the more a destination has in flight the more it leaves
// free for the others: as much as it has itself, and for each of its own another
// sixteen, up to an eighth of the total. So the many that have nothing or little
// in flight find a slot at once. With a plain limit sixteen dead destinations at 64
// would hold all of 1,024 slots, and the next one would get a slot once in five
// seconds; were only as much left free as each has itself, two hundred that hang
// would leave five slots to eight hundred that do not.
func (l Limits) room(q *queue, inFlight int) bool {
	has, free := q.inFlight(), l.Total-inFlight
	return has < l.each(q) && free > max(has, min(step*has, l.Total/8))
}

// retry reports whether a retry may start. Retries take half of a destination's
// slots at most, so that fresh events stay fast when a backlog returns.
func (l Limits) retry(q *queue, inFlight int) bool {
	return l.room(q, inFlight) && q.retries < l.retries()
}

// retries are how many slots of a destination retries may hold.
func (l Limits) retries() int { return max(1, l.Each/2) }
