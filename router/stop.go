package router

import (
	"context"
	"time"
)

// stopGrace is how long after the request to stop the transaction in hand may
// still take. The process as a whole has eight seconds.
const stopGrace = 5 * time.Second

// grace returns a context that ends d after ctx has ended, or when done is
// called: the unit of work in hand runs on it, so that a stop lets it finish
// and yet bounds it.
func grace(ctx context.Context, d time.Duration) (work context.Context, done context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-work.Done():
		case <-time.After(d):
			cancel()
		}
	})
	return work, func() {
		stop()
		cancel()
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
