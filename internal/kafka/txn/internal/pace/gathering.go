// Package pace decides when a transaction begins and how much it takes: [Gathering]
// how long records wait for company, [Budget] how many of them fit.
package pace

import "time"

// Gathering decides how long records wait for company before their transaction
// begins. What a transaction costs the brokers hardly depends on how much it carries:
// a dozen requests, records of the coordinator, a marker on every partition. Begun as
// soon as the last one has ended, each has a record or two at low rates; and it meets
// brokers that are still writing the markers of the last, which has the client back
// off for longer than the wait would have been. The zero value is ready.
type Gathering struct {
	ended time.Time     // when the last transaction had committed
	took  time.Duration // moving average of how long the brokers take for one
	rate  float64       // and of the records a second that they carry
}

const (
	// Records wait for some four times as long as brokers take for a transaction, counted from
	// the end of the last one. Brokers that are done within gatherLeast, as the embedded one
	// is, have little to be spared; and latency has its limits.
	gatherTimes = 4
	gatherLeast = 2 * time.Millisecond
	gatherMost  = 20 * time.Millisecond
	// gatherEnough records share the cost of a transaction well enough. Where as many
	// come within gatherLeast there is a backlog, or nearly, and nothing waits.
	gatherEnough = 16
	// gatherWeight is what the last transaction counts for in the averages.
	gatherWeight = 0.125
)

// Wait is how long the records in hand wait. The first ones after a pause do not.
func (g *Gathering) Wait(now time.Time) time.Duration {
	if g.took < gatherLeast || g.rate*gatherLeast.Seconds() >= gatherEnough {
		return 0
	}
	span := min(gatherTimes*g.took, gatherMost)
	if g.rate > 0 {
		span = min(span, time.Duration(gatherEnough/g.rate*float64(time.Second)))
	}
	return max(span-now.Sub(g.ended), 0)
}

// Committed notes a transaction, from when it was left to the brokers until now, and how many
// records it carried.
func (g *Gathering) Committed(records int, left, now time.Time) {
	took := now.Sub(left)
	if g.ended.IsZero() {
		g.took, g.ended = took, now
		return
	}
	g.took += time.Duration(gatherWeight * float64(took-g.took))
	if since := now.Sub(g.ended).Seconds(); since > 0 {
		g.rate += gatherWeight * (float64(records)/since - g.rate)
	}
	g.ended = now
}
