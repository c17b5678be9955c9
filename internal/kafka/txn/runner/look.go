package runner

import (
	"context"
	"errors"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/waiting"
)

const (
	lookEvery = 10 * time.Second
	lookTime  = 5 * time.Second
)

var (
	// What ends a session: its id may be that of a forgotten transaction, or it waited.
	errForgotten = errors.New("the brokers have not ended a transaction, which keeps offsets of the group pending")
	errPlaced    = errors.New("it is now known where its partitions begin")
)

// look keeps known what polls do not tell, until ctx ends. Nothing waits for it.
func (r *Runner) look(ctx context.Context) {
	for wait := time.Second; waiting.Sleep(ctx, wait); wait = lookEvery {
		r.lookOnce(ctx)
		asking, cancel := context.WithTimeout(ctx, lookTime)
		if r.hanging.Look(asking) {
			r.interrupt(errForgotten)
		}
		cancel()
	}
}

func (r *Runner) lookOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var noCount error
	if s := r.session.Load(); s != nil {
		noCount = r.backlog.Recount(ctx, r.set.Topics.Client, s.Client())
		r.bookmark.Write(ctx, s.Client())
	}
	lags, noLag := groups.Lags(ctx, r.set.Topics.Client, r.set.Group, r.set.Sources...)
	ends, noEnds := r.set.Topics.Ends(ctx, r.set.Sources...)
	r.backlog.Look(lags, ends, errors.Join(noCount, noLag, noEnds), r.log)
	if r.place.Settled(ctx) {
		r.interrupt(errPlaced)
	}
}
