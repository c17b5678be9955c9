package redrive

import (
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// verdict says what is done with a dead letter: sent, or left out and why. The
// texts are for people.
type verdict string

const (
	send          verdict = ""
	redriven      verdict = "redriven before"
	laterVersion  verdict = "written by a later release: redrive with that release"
	unreadable    verdict = "the headers can't be read"
	noDestination verdict = "given up before it had a destination"
	noSource      verdict = "the source is no longer in the workspace, or is switched off"
	removed       verdict = "the destination is no longer in the workspace"
	disabled      verdict = "the destination is switched off"
	suppressed    verdict = "the user is suppressed"
	gone          verdict = "the value was left out, and the original record is gone"
	forbidden     verdict = "the value was left out, and reading the original record is not permitted: allow Read on its topic"
	tooLarge      verdict = "the brokers refuse the event as too large"
)

// judge decides on one dead letter of the run.
func (r *run) judge(l *deadletters.Letter) verdict {
	if v := judge(l, r.Again, r.Workspace); v != send {
		return v
	}
	// The key is the user's id (or an anonymous one, which nobody is suppressed by).
	if r.Suppressed != nil && l.Headers.Type != schemas.TypeDelete && r.Suppressed(l.Record.Key) {
		return suppressed
	}
	return send
}

// judge decides on one dead letter, whoever its user is. Those that were redriven are left out unless
// that was before again.
func judge(l *deadletters.Letter, again time.Time, ws *workspace.Snapshot) verdict {
	switch {
	case schemas.IsLaterVersion(l.Unreadable):
		return laterVersion
	case l.Unreadable != nil:
		return unreadable
	case !l.RedrivenAt.IsZero() && !l.RedrivenAt.Before(again):
		return redriven
	case l.Headers.Destination != "":
		return judgeDestination(l.Headers.Destination, ws)
	case beginsAnew(&l.Headers):
		return judgeSource(l.Headers.Source, ws)
	}
	return noDestination
}

// beginsAnew reports an event without a destination that nobody was sent: a tracking
// plan had blocked it, the router did not know its source, or the router of an earlier
// release had left it unread, with whatever it names for this one to decide on.
func beginsAnew(h *schemas.Headers) bool {
	unread := h.Reason == schemas.ReasonVersionUnknown && h.From.Topic == schemas.TopicRawEvents
	return unread || h.Reason == schemas.ReasonPlanViolation || h.Reason == schemas.ReasonSourceUnknown
}

func judgeDestination(id string, ws *workspace.Snapshot) verdict {
	switch destination, known := ws.Destination(id); {
	case !known:
		return removed
	case !destination.Enabled:
		return disabled
	}
	return send
}

// judgeSource is for what never got as far as to have a destination. The router
// gives it to nobody without its source.
func judgeSource(id string, ws *workspace.Snapshot) verdict {
	if source, known := ws.Source(id); !known || !source.Enabled {
		return noSource
	}
	return send
}

// target is the topic that a dead letter of a destination is sent to, and whether it has
// arrived there. Without a destination it is an event that begins anew: the router finds its
// destinations.
func (r *run) target(destination string) (topic string, arrived bool) {
	if d, known := r.Workspace.Destination(destination); known {
		return d.Topic(), d.Is(workspace.TypeTopic)
	}
	return schemas.TopicRawEvents, false
}
