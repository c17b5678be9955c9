package router

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
)

// bookmarkTime bounds the last bookmark of a session, for which the stop waits.
const bookmarkTime = time.Second

// bookmark copies how far partitions are routed to where brokers do not forget it.
// What a bookmark lacks is routed for a second time should the group lose its
// offsets, and at no other time.
func (r *Router) bookmark(ctx context.Context, client *kgo.Client) {
	if client == nil {
		return
	}
	commits := r.marks.unkept()
	err := kafka.CommitLasting(ctx, client, Bookmark, r.source, commits)
	if err == nil {
		r.unkept.Store(r.unkept.Load() && len(commits) == 0)
		return
	}
	r.marks.again(commits)
	if ctx.Err() == nil && r.unkept.CompareAndSwap(false, true) {
		r.log.Warn("copy of the group's offsets can't be written, routing continues without it, retrying", "group", Bookmark, "error", kafka.Advised(err))
	}
}
