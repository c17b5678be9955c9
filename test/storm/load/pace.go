package load

import (
	"context"
	"time"
)

// Pace calls emit as often as the rate says until ctx ends, and returns how often
// that was. What a pause of the machine kept back is made up for.
func Pace(ctx context.Context, rate int, emit func()) int {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	begun, n := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return n
		case now := <-tick.C:
			for due := dueBy(now.Sub(begun), rate); n < due && ctx.Err() == nil; n++ {
				emit()
			}
		}
	}
}

// dueBy is how many events a rate makes in a time.
func dueBy(elapsed time.Duration, rate int) int {
	return int(elapsed.Microseconds() * int64(rate) / 1_000_000)
}
