package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/anabranch/anabranch/internal/logging"
)

// notices tells what the owner of a source should know although the calls are
// taken in, once a minute for each source and matter: a device with a wrong clock
// has it in every request.
type notices struct {
	log  *slog.Logger
	told logging.Sampler[notice]
}

func newNotices(log *slog.Logger) *notices {
	return &notices{log: log, told: logging.Sampler[notice]{Every: noticeEvery}}
}

// notice is a matter of a source.
type notice struct {
	source string
	matter matter
}

type matter int

const (
	wrongClock matter = iota
	unreadableTimes
	blockedCalls
	proxiedClients
	nobodys
	doubledPaths
)

const noticeEvery = time.Minute

// write writes the lines that an accepted request asks for and that were not
// written of late.
func (n *notices) write(ctx context.Context, now time.Time, o *Outcome) {
	if o.Problem != nil {
		return
	}
	if o.Skew.Calls > 0 && n.due(o.Source, wrongClock, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "the clock of a client is wrong",
			slog.String("source", o.Source),
			slog.Duration("ahead", o.Skew.Ahead),
			slog.Int("events", o.Skew.Calls),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "timestamps are corrected by the difference; set the device's clock, or make sure that sentAt is the time of sending"))
	}
	if o.Unreadable > 0 && n.due(o.Source, unreadableTimes, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "timestamps of a client can't be read",
			slog.String("source", o.Source),
			slog.Int("time_stamps", o.Unreadable),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "they are treated as absent, so events get the time of receipt; have the client send 2026-11-21T08:30:00.000Z or milliseconds since 1970"))
	}
	if o.Blocked > 0 && n.due(o.Source, blockedCalls, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "the tracking plan blocks events",
			slog.String("source", o.Source),
			slog.Int("events", o.Blocked),
			slog.String("hint", "`anabranch dead-letters list --reason plan_violation` shows them; correct the client or the plan, then redrive them"))
	}
	if o.Nobody > 0 && n.due(o.Source, nobodys, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "ids of users stand for nobody",
			slog.String("source", o.Source),
			slog.Int("events", o.Nobody),
			slog.String("hint", "they are delivered as they are, and not taken for one user; let the client leave out the id of a user that it does not know, and see sources.identity.blocked in the workspace"))
	}
	if o.Doubled && n.due(o.Source, doubledPaths, now) {
		n.log.LogAttrs(ctx, slog.LevelInfo, "a client asks for /v1/v1",
			slog.String("source", o.Source),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "it is answered as meant; leave /v1 out of the endpoint that the SDK is given, which adds it"))
	}
	if o.Proxied && n.due(o.Source, proxiedClients, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "the address of a proxy is stored as the address of visitors",
			slog.String("source", o.Source),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "add the proxy's network to INGEST_TRUSTED_PROXIES, so that its Forwarded or X-Forwarded-For header is used"))
	}
}

func (n *notices) due(source string, m matter, now time.Time) bool {
	_, ok := n.told.Admit(notice{source, m}, now)
	return ok
}
