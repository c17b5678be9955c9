package waiting

import "time"

// Pace spreads batches evenly over time. It is made by [NewPace].
type Pace struct {
	Each time.Duration // between two items
	next time.Time     // when the next batch may leave
}

// NewPace returns the pace of so many items a second.
func NewPace(rate int) *Pace { return &Pace{Each: time.Second / time.Duration(rate)} }

// Wait returns how long the next batch has to wait.
func (p *Pace) Wait(now time.Time) time.Duration { return max(0, p.next.Sub(now)) }

// Left notes that a batch of n items leaves now. A batch that left late does not
// delay those behind it, so that the rate holds; but what was missed by more than
// one batch, in a pause of the brokers, is not made up for.
func (p *Pace) Left(n int, now time.Time) {
	take := time.Duration(n) * p.Each
	if now.Sub(p.next) > take {
		p.next = now
	}
	p.next = p.next.Add(take)
}
