package regulate

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Bounds of one transaction: it takes some ten milliseconds, so that a stop waits
// for no longer and a repetition after a crash costs little.
const (
	stepEvents = 1000
	stepBytes  = 1 << 20
)

// affected returns the ids of the sources whose destinations are told (spec.md,
// Events): where the workspace has an audience or a computed trait, those that have seen
// the user, which the stage personas knows; else each enabled source that has an enabled
// destination.
func affected(s *workspace.Snapshot) []string {
	if len(s.Audiences())+len(s.Traits()) > 0 {
		return []string{regulation.BySeen}
	}
	ids := make([]string, 0, len(s.Sources()))
	for _, source := range s.Sources() {
		if len(s.Listeners(source.ID)) > 0 {
			ids = append(ids, source.ID)
		}
	}
	return ids
}

// step returns the next notifications of a regulation, at least those of one user
// and no more users when most is reached, and the state that it has with them. The sources are those of the first
// step, whatever has become of the workspace since: what was counted by them goes
// on by them.
func step(r regulation.Regulation, users, sources []string, most int, now time.Time) (regulation.Regulation, []*kgo.Record) {
	if r.Sources == nil {
		r.Sources = sources
	}
	r.Status = regulation.Running
	var events []*kgo.Record
	bytes := 0
	for r.Notified < len(users) && len(events) < most && bytes < stepBytes {
		events = append(events, about(&r, users[r.Notified])...)
		bytes += len(r.Sources) * len(users[r.Notified])
		r.Notified++
	}
	if r.Notified == len(users) {
		return r.End(regulation.Finished, "", now), events
	}
	return r, events
}

// about are the events of one user.
func about(r *regulation.Regulation, userID string) (events []*kgo.Record) {
	if regulation.IsBySeen(r.Sources) {
		return []*kgo.Record{regulation.Order(r.ID, r.CreatedAt, userID)}
	}
	for _, source := range r.Sources {
		events = append(events, regulation.Notification(r.ID, r.CreatedAt, source, userID))
	}
	return events
}
