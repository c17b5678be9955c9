package workspace

import (
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Pause says that nothing is sent to a destination for a while, and by whose word. It is no
// part of a file: what an operator stops at night must not begin again when the file is
// applied the next time.
type Pause struct {
	By    string    `json:"by,omitempty"` // empty: not known
	Since time.Time `json:"since"`
}

// String returns such as "since 2026-11-21 03:12:00 by ada".
func (p Pause) String() string {
	text := "since " + terminal.Moment(p.Since)
	if p.By != "" {
		text += " by " + terminal.Safe(p.By)
	}
	return text
}

// Unpausable returns why deliveries to a destination can't be paused; empty: they can.
func (d *Destination) Unpausable() string {
	if d.Is(TypeWebhooks) {
		return ""
	}
	return "its type is " + d.Type + ", and only deliveries to webhooks can be paused"
}

// Paused returns the pause of a destination with webhooks; false: it is delivered to.
func (s *Snapshot) Paused(id string) (Pause, bool) {
	p, ok := s.pauses[id]
	return p, ok
}

// PausedIDs returns the ids of the destinations that are paused, ascending.
func (s *Snapshot) PausedIDs() []string { return slices.Sorted(maps.Keys(s.pauses)) }

// keepPauses keeps the pauses of those destinations that can be paused.
func (s *Snapshot) keepPauses(all map[string]Pause) {
	for id, p := range all {
		if d, known := s.destByID[id]; known && d.Unpausable() == "" {
			s.pauses[id] = p
		}
	}
}
