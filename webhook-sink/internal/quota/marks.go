package quota

import "time"

// Speed follows how fast a destination uses up its queue. The
// zero value is that of one that had no attempt yet.
type Speed struct {
	slot float64 // seconds that a first attempt holds its slot, moving average; 0 before the first
	size float64 // of an event, likewise
}

// Note adds a first attempt that ended.
func (s *Speed) Note(slot time.Duration, size int) {
	const weight = 1.0 / 16
	if s.slot == 0 {
		s.slot, s.size = slot.Seconds(), float64(size)
		return
	}
	s.slot += (slot.Seconds() - s.slot) * weight
	s.size += (float64(size) - s.size) * weight
}

const (
	// queueBudget is what all queues together may hold. The collector lets the heap
	// grow to twice what is in use.
	queueBudget = 32 << 20
	// A healthy destination must find its next events in the queue while a fetch
	// is under way; beyond a few MiB more only costs memory.
	maxLow = 4 << 20
	minLow = 64 << 10
	// typicalSlot is assumed of a destination that had no attempt yet.
	typicalSlot = 10 * time.Millisecond
	typicalSize = 2 << 10
)

// Marks returns above how many bytes the topic of one of n destinations pauses
// and below how many it resumes. After a resume nothing arrives for as long as the
// fetch takes that is under way (fetchWait), so what is left by then has to last
// so long, with each attempts at a time. Fixed marks would slow the fast down,
// whose queue runs dry, or fill the memory with the events of the dead.
func (s *Speed) Marks(n, each int, fetchWait time.Duration) (high, low int) {
	slot, size := s.known()
	drained := fetchWait.Seconds() * float64(each) / max(slot, 1e-6) * size
	low = int(min(max(drained, minLow), maxLow))
	share := max(queueBudget/max(n, 1), 2*minLow)
	high = min(2*low, share)
	return high, high / 2
}

// Keep is how many bytes of one key wait at least, before anything of it is set aside
// for the others' sake, at a destination whose topic pauses above high: what the key,
// whose events go one at a time, uses up while two fetches are under way, within an
// eighth and a thirty-second of what all keys may have.
func (s *Speed) Keep(high int, fetchWait time.Duration) int {
	slot, size := s.known()
	drained := 2 * fetchWait.Seconds() / max(slot, 1e-6) * size
	return int(min(max(drained, float64(high)/32), float64(high)/8))
}

// known is what is known of a destination, or assumed.
func (s *Speed) known() (slot, size float64) {
	if s.slot == 0 {
		return typicalSlot.Seconds(), typicalSize
	}
	return s.slot, s.size
}
