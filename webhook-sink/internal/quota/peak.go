package quota

import "time"

// peakSpan is how long the most that was needed is remembered, at least; it is twice as
// long at most. Live events that come in bursts find free what the last burst needed.
const peakSpan = 30 * time.Second

// peak is the most that a number was of late. The zero value knows of none.
type peak struct {
	began         time.Time // of the span under way
	span, earlier int       // the most in it, and in the one before
}

func (p *peak) note(n int, now time.Time) {
	p.pass(now)
	p.span = max(p.span, n)
}

func (p *peak) most(now time.Time) int {
	p.pass(now)
	return max(p.span, p.earlier)
}

// pass ends spans that are over.
func (p *peak) pass(now time.Time) {
	switch past := now.Sub(p.began); {
	case past >= 2*peakSpan:
		*p = peak{began: now}
	case past >= peakSpan:
		*p = peak{began: p.began.Add(peakSpan), earlier: p.span}
	}
}
