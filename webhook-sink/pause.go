package webhooksink

import (
	"slices"

	"github.com/anabranch/anabranch/internal/workspace"
)

// maxPausedNamed is how many destinations a line of the log names.
const maxPausedNamed = 10

// obey has nothing sent to the destinations that are paused, and says which they are when they
// are others than before.
func (s *session) obey(ws *workspace.Snapshot) {
	ids := ws.PausedIDs()
	s.dispatcher.Hold(ids)
	if slices.Equal(ids, s.paused) {
		return
	}
	s.paused = ids
	if len(ids) == 0 {
		s.log.Info("deliveries are not paused to any destination any more")
		return
	}
	s.log.Warn("deliveries are paused: nothing is sent to these destinations until they are resumed", "count", len(ids), "destinations", ids[:min(len(ids), maxPausedNamed)])
}
