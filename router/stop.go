package router

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// stopGrace is how long after the request to stop the transaction in hand may
// still take. The process as a whole has eight seconds.
const stopGrace = 5 * time.Second

// leaveTimeout bounds the farewell to the group.
const leaveTimeout = 2 * time.Second

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

// leave frees the router's place in the group when ctx has ended, unless the router
// returns to it. Ordinary members leave as they close.
func (r *Router) leave(ctx, work context.Context, cl *kgo.Client) {
	if ctx.Err() == nil || r.set.InstanceID == "" || r.set.Returns {
		return
	}
	work, done := context.WithTimeout(work, leaveTimeout)
	defer done()
	member, _ := cl.GroupMetadata()
	err := cl.LeaveGroupContext(work)
	if err == nil && member != "" {
		err = kafka.Leave(work, cl, Group, member)
	}
	if err != nil {
		r.log.Warn("left the group without its consent, which misses this router in a few seconds", "error", err)
	}
}

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
