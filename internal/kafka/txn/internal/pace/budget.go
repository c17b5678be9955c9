package pace

import "time"

// What one transaction may write. A record that a thousand others are made of is a
// thousand records: bounded by what it reads alone, a transaction took more memory than
// the process has, or longer than its broker waits for it, and then the same records
// came again.
const (
	budgetRecords = 50_000
	budgetBytes   = 64 << 20 // before compression
	// step is how many records are written at most before the rest of the budget is
	// looked at. Sizes of records are known when they have been polled, and what has
	// been polled can't be put back.
	step = 1_000
	// mostHalvings bounds how far slow brokers shrink a transaction.
	mostHalvings = 10
)

// Budget is what a transaction may still take: records that it reads, and records
// and bytes that it writes.
type Budget struct{ Read, Written, Bytes int }

// Full is the budget of a transaction that reads so many records at most.
func Full(read int) Budget {
	return Budget{Read: read, Written: budgetRecords, Bytes: budgetBytes}
}

// Halved is the budget of a transaction for brokers that are that much slower.
func (b Budget) Halved(times int) Budget {
	return Budget{Read: max(1, b.Read>>times), Written: b.Written >> times, Bytes: b.Bytes >> times}
}

// Next is how many records may be polled now when each may be written fanOut times;
// 0: the transaction is full. The first record of a transaction is taken whatever it
// is written to, since nothing divides a record.
func (b Budget) Next(fanOut int) int {
	fanOut = max(fanOut, 1)
	if b.Written < fanOut || b.Bytes <= 0 {
		return 0
	}
	return max(0, min(b.Read, b.Written/fanOut, max(1, step/fanOut)))
}

// Halve follows how long transactions take. Brokers differ by orders of magnitude in
// what they take in a second, and from hour to hour; a transaction that comes near
// its timeout is too large for them whatever it holds.
func Halve(halvings int, took, timeout time.Duration) int {
	switch {
	case took > timeout/4:
		return min(halvings+1, mostHalvings)
	case took < timeout/16:
		return max(halvings-1, 0)
	default:
		return halvings
	}
}
