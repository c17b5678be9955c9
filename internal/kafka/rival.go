package kafka

import (
	"slices"
	"time"
)

// Rival tells a client whose name was taken once from one that shares its name with
// another process. The former happens to a client by itself: its own request, sent
// again over a slow or frozen broker, arrives as somebody else's, and a new session is
// the cure. The latter is a mistake in the settings that no new session cures. The
// zero value is ready; it is not safe for concurrent use.
type Rival struct{ met []time.Time }

const (
	rivalTimes  = 3
	rivalWithin = time.Minute
)

// Met notes that the name was taken from a session that had it, and reports whether
// that has happened three times within a minute: somebody takes it back each time.
func (r *Rival) Met(now time.Time) bool {
	r.met = slices.DeleteFunc(r.met, func(t time.Time) bool { return now.Sub(t) >= rivalWithin })
	r.met = append(r.met, now)
	return len(r.met) >= rivalTimes
}
