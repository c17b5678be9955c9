package redrive

import "time"

const (
	// MaxRate bounds the rate: a redrive is for one's receivers to bear.
	MaxRate = 10_000

	// batchesPerSecond makes transactions short: readers of committed records see
	// a transaction at once, so that it is what bursts are made of.
	batchesPerSecond = 10

	// maxBatchBytes bounds what a batch of large events holds in memory.
	maxBatchBytes = 4 << 20
)

// batchSize is how many events a transaction holds at a rate per second.
func batchSize(rate int) int { return max(1, rate/batchesPerSecond) }

// pace spreads batches evenly over time.
type pace struct {
	each time.Duration // between two events
	next time.Time     // when the next batch may leave
}

func newPace(rate int) *pace { return &pace{each: time.Second / time.Duration(rate)} }

// wait returns how long the next batch has to wait.
func (p *pace) wait(now time.Time) time.Duration { return max(0, p.next.Sub(now)) }

// left notes that a batch of n events leaves now. A batch that left late does not
// delay those behind it, so that the rate holds; but what was missed by more than
// one batch, in a pause of the brokers, is not made up for.
func (p *pace) left(n int, now time.Time) {
	take := time.Duration(n) * p.each
	if now.Sub(p.next) > take {
		p.next = now
	}
	p.next = p.next.Add(take)
}
