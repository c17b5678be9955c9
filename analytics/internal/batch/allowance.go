package batch

// Allowance is how many bytes of messages a batch may have. It becomes less when
// requests turn out to be too large for something on the way, or for the time that an
// attempt has, and grows again while they are taken.
type Allowance struct{ most, now, taken int }

// NewAllowance is one that is never more than most.
func NewAllowance(most int) Allowance { return Allowance{most: most, now: most} }

// Now is how many bytes a batch may have now.
func (a *Allowance) Now() int { return a.now }

const (
	// leastAllowance is where an allowance no longer shrinks.
	leastAllowance = 4096
	// proof is how many batches of about that size have to be taken before it grows.
	proof = 20
)

// Shrink is told the size of a batch that was too large.
func (a *Allowance) Shrink(size int) {
	a.now, a.taken = min(a.most, max(min(size, a.now)/2, leastAllowance)), 0
}

// Grow is told the size of a batch that was taken.
func (a *Allowance) Grow(size int) {
	if a.now == a.most || 2*size < a.now {
		return
	}
	if a.taken++; a.taken == proof {
		a.now, a.taken = min(2*a.now, a.most), 0
	}
}
