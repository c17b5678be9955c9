package router

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// gathering decides how long events wait for company before their transaction
// begins. What a transaction costs the brokers hardly depends on how much it carries:
// a dozen requests, records of the coordinator, a marker on every partition. Begun as
// soon as the last one has ended, each has an event or two at low rates; and it meets
// brokers that are still writing the markers of the last, which has the client back
// off for longer than the wait would have been.
type gathering struct {
	ended time.Time     // when the last transaction had committed
	took  time.Duration // moving average of how long they take
	rate  float64       // and of the events a second that they carry
}

const (
	// Events wait for some four times as long as a transaction takes, counted from the
	// end of the last one. Brokers that are done within gatherLeast, as the embedded one
	// is, have little to be spared; and latency has its limits.
	gatherTimes = 4
	gatherLeast = 2 * time.Millisecond
	gatherMost  = 20 * time.Millisecond
	// gatherEnough events share the cost of a transaction well enough. Where as many
	// come within gatherLeast there is a backlog, or nearly, and nothing waits.
	gatherEnough = 16
	// gatherWeight is what the last transaction counts for in the averages.
	gatherWeight = 0.125
)

// wait is how long the events in hand wait. The first ones after a pause do not.
func (g *gathering) wait(now time.Time) time.Duration {
	if g.took < gatherLeast || g.rate*gatherLeast.Seconds() >= gatherEnough {
		return 0
	}
	span := min(gatherTimes*g.took, gatherMost)
	if g.rate > 0 {
		span = min(span, time.Duration(gatherEnough/g.rate*float64(time.Second)))
	}
	return max(span-now.Sub(g.ended), 0)
}

// committed notes a transaction and how many events it carried.
func (g *gathering) committed(events int, began, now time.Time) {
	took := now.Sub(began)
	if g.ended.IsZero() {
		g.took, g.ended = took, now
		return
	}
	g.took += time.Duration(gatherWeight * float64(took-g.took))
	if since := now.Sub(g.ended).Seconds(); since > 0 {
		g.rate += gatherWeight * (float64(events)/since - g.rate)
	}
	g.ended = now
}

// gather has the events in hand wait for company, and returns them with what has come
// meanwhile. It polls all the time: what the client holds fetched keeps it from
// fetching more. An error means that the session is of no more use.
func (r *Router) gather(ctx context.Context, s *kgo.GroupTransactSession, fetches kgo.Fetches) (kgo.Fetches, error) {
	wait := r.gathering.wait(time.Now())
	if wait == 0 || r.plan == nil {
		return fetches, nil
	}
	ctx, done := context.WithTimeout(ctx, wait)
	defer done()
	for ctx.Err() == nil {
		room := r.full.halved(r.halvings).next(r.plan.fanOut) - fetches.NumRecords()
		if room <= 0 {
			break
		}
		more := s.PollRecords(ctx, room)
		if err := r.fetchError(ctx, more); err != nil {
			return nil, err
		}
		fetches = append(fetches, more...)
	}
	return fetches, nil
}
