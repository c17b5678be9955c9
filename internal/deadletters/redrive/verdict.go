package redrive

import (
	"time"

	"github.com/anabranch/anabranch/internal/deadletters"
	"github.com/anabranch/anabranch/internal/workspace"
)

// verdict says what is done with a dead letter: sent, or left out and why. The
// texts are for people.
type verdict string

const (
	send          verdict = ""
	redriven      verdict = "redriven before"
	unreadable    verdict = "the headers can't be read"
	noDestination verdict = "given up before it had a destination"
	removed       verdict = "the destination is no longer in the workspace"
	disabled      verdict = "the destination is switched off"
	gone          verdict = "the value was left out and is gone from where it stood"
	tooLarge      verdict = "the brokers refuse the event as too large"
)

// judge decides on one dead letter. Those that were redriven are left out unless
// that was before again.
func judge(l *deadletters.Letter, again time.Time, ws *workspace.Snapshot) verdict {
	dest, known := ws.Destination(l.Headers.Destination)
	switch {
	case l.Unreadable != nil:
		return unreadable
	case !l.RedrivenAt.IsZero() && !l.RedrivenAt.Before(again):
		return redriven
	case l.Headers.Destination == "":
		return noDestination
	case !known:
		return removed
	case !dest.Enabled:
		return disabled
	}
	return send
}
