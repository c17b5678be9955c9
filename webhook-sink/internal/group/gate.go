package group

import (
	"context"
	"sync"
)

// Gate lets a rebalance wait until what the poll loop has in hand is in the hands
// of the dispatcher.
//
// The client stops returning records of a partition before it calls us about its
// loss. But the loop may at that moment hold records that an earlier poll
// returned. Accepted after the partition was taken away and given back, they
// would count in the new assignment beside the same records fetched
// again. Kgo's own answer, BlockRebalanceOnPoll, also keeps every other partition
// from being polled while a revocation waits for attempts in flight, up to the
// attempt's whole timeout. So the callbacks do this instead: break off the poll
// under way, if one is, and wait until its records are taken in. A poll that
// begins later returns nothing of what was lost.
type Gate struct {
	mu    sync.Mutex
	poll  context.CancelFunc
	taken chan struct{} // closed when the poll's records are taken in; nil between polls
}

// Enter begins a poll, which must use the context returned.
func (g *Gate) Enter(ctx context.Context) context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	ctx, g.poll = context.WithCancel(ctx)
	g.taken = make(chan struct{})
	return ctx
}

// Leave says that what the poll returned is taken in.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.poll()
	close(g.taken)
	g.taken = nil
}

// Pass returns when everything that any poll has returned until now is taken in.
func (g *Gate) Pass() {
	g.mu.Lock()
	taken := g.taken
	if taken != nil {
		g.poll()
	}
	g.mu.Unlock()
	if taken != nil {
		<-taken
	}
}
