package router

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/telemetry/seldom"
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
		return
	}
	r.marks.again(commits)
	if passed, ok := r.unkept.Admit(seldom.Kind{}, time.Now()); ok && ctx.Err() == nil {
		r.log.Warn("copy of the group's offsets can't be written, routing goes on without", "group", Bookmark, "error", kafka.Advised(err), "passed_over", passed)
	}
}
