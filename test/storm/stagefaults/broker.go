package stagefaults

import (
	"context"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/report"
)

// BrokerStop stops the broker in its tracks for some seconds at a time: it keeps
// its connections, and answers late. A stop is shorter than a member's session,
// so the group outlives it.
func BrokerStop(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 500
	stops, duration := lab.Pick(l, 1, 6), lab.Pick(l, 12*time.Second, 2*time.Minute)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 4, Keys: 500, Sinks: 2})
	if err != nil {
		return nil, err
	}
	plan := l.Moments(stops, duration)
	lengths := make([]time.Duration, stops)
	for i := range lengths {
		lengths[i] = time.Duration(2000+l.Rand.IntN(4000)) * time.Millisecond
	}
	l.Announce("the broker stops at %v for %v", lab.Legible(plan), lab.Legible(lengths))
	r := &report.Result{Faults: report.Faults{What: "stops of the broker", Claimed: stops}}
	err = l.Under(ctx, rate, f.Streams, func() error {
		return lab.At(ctx, plan, duration, func(i int) error {
			r.Faults.Injected++
			return holdBroker(ctx, l, lengths[i])
		})
	})
	if err != nil {
		return nil, err
	}
	// What is finished while the broker is silent is committed after it.
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{MinSent: lab.AtLeast(rate, duration/2), MaxInverted: -1}, f.Sinks...)
}

// holdBroker stops the broker for a while. It goes on in any case: one that stays
// stopped would be left so when it is not ours.
func holdBroker(ctx context.Context, l *lab.Lab, d time.Duration) error {
	if err := l.Broker.Hold(); err != nil {
		return err
	}
	held := lab.Pause(ctx, d)
	if err := l.Broker.Release(); err != nil {
		return fmt.Errorf("the broker stays stopped: %w", err)
	}
	return held
}
