package router

import "time"

// What one transaction may write. An event that a thousand destinations listen to
// is a thousand records: bounded by the events that it reads alone, a transaction
// took more memory than the process has, or longer than its broker waits for it, and
// then the same events came again.
const (
	budgetRecords = 50_000
	budgetBytes   = 64 << 20 // before compression
	// step is how many records are written at most before the rest of the budget is
	// looked at. Sizes of events are known when they have been polled, and what has
	// been polled can't be put back.
	step = 1_000
	// mostHalvings bounds how far slow brokers shrink a transaction.
	mostHalvings = 10
)

// budget is what a transaction may still take: records that it reads, and records
// and bytes that it writes.
type budget struct{ read, written, bytes int }

// halved is the budget of a transaction for brokers that are that much slower.
func (b budget) halved(times int) budget {
	return budget{read: max(1, b.read>>times), written: b.written >> times, bytes: b.bytes >> times}
}

// next is how many records may be polled now when each may be written fanOut times;
// 0: the transaction is full. The first event of a transaction is taken whatever it
// is written to, since nothing divides an event.
func (b budget) next(fanOut int) int {
	fanOut = max(fanOut, 1)
	if b.written < fanOut || b.bytes <= 0 {
		return 0
	}
	return max(0, min(b.read, b.written/fanOut, max(1, step/fanOut)))
}

// halve follows how long transactions take. Brokers differ by orders of magnitude in
// what they take in a second, and from hour to hour; a transaction that comes near
// its timeout is too large for them whatever it holds.
func halve(halvings int, took, timeout time.Duration) int {
	switch {
	case took > timeout/4:
		return min(halvings+1, mostHalvings)
	case took < timeout/16:
		return max(halvings-1, 0)
	default:
		return halvings
	}
}
