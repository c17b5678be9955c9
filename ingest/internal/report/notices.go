package report

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// notices tells what the owner of a source should know although the calls are
// taken in, once a minute for each source and matter: a device with a wrong clock
// has it in every request.
type notices struct {
	log *slog.Logger

	mu   sync.Mutex
	told map[notice]time.Time
}

// notice is a matter of a source. There are few sources, so all are remembered.
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
)

const noticeEvery = time.Minute

// write writes the lines that an accepted request asks for and that were not
// written of late.
func (n *notices) write(ctx context.Context, now time.Time, o *Outcome) {
	if o.Problem != nil {
		return
	}
	if o.Skew.Calls > 0 && n.admit(notice{o.Source, wrongClock}, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "the clock of a client is wrong",
			slog.String("source", o.Source),
			slog.Duration("ahead", o.Skew.Ahead),
			slog.Int("events", o.Skew.Calls),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "time stamps are corrected by the difference; set the device's clock, or see that sentAt is the time of sending"))
	}
	if o.Unreadable > 0 && n.admit(notice{o.Source, unreadableTimes}, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "time stamps of a client can't be read",
			slog.String("source", o.Source),
			slog.Int("time_stamps", o.Unreadable),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "they count as absent, so that events get the time of receipt; let the client send 2026-11-21T08:30:00.000Z or milliseconds since 1970"))
	}
	if o.Blocked > 0 && n.admit(notice{o.Source, blockedCalls}, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "the tracking plan blocks events",
			slog.String("source", o.Source),
			slog.Int("events", o.Blocked),
			slog.String("hint", "`anabranch dead-letters list --reason plan_violation` shows them; correct the client or the plan, then redrive them"))
	}
	if o.Proxied && n.admit(notice{o.Source, proxiedClients}, now) {
		n.log.LogAttrs(ctx, slog.LevelWarn, "the address of a proxy is stored as that of visitors",
			slog.String("source", o.Source),
			slog.String("peer", o.Client.String()),
			slog.String("hint", "name the proxy's network in INGEST_TRUSTED_PROXIES, and its Forwarded or X-Forwarded-For header counts"))
	}
}

func (n *notices) admit(about notice, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last, ok := n.told[about]; ok && now.Sub(last) < noticeEvery {
		return false
	}
	if n.told == nil {
		n.told = make(map[notice]time.Time)
	}
	n.told[about] = now
	return true
}
