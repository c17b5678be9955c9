package ingest

import (
	"net/http"

	"github.com/anabranch/anabranch/ingest/internal/regulate"
	"github.com/anabranch/anabranch/internal/regulation"
)

// RegulationSettings are what a process gives beside the stage's own settings.
type RegulationSettings struct {
	// Register has the regulations and suppressed users. It is filled before the
	// service runs.
	Register *regulation.Register
	// Ledger writes to the topic `workspace`.
	Ledger *regulation.Ledger
}

// Regulations is the service beside a stage that takes deletion requests in and
// carries them out.
type Regulations struct{ *regulate.Service }

// NewRegulations returns the service of a stage that was made with the same
// settings. Its requests are served by [Regulations.Handler].
func NewRegulations(in *Ingest, set Settings, own RegulationSettings) *Regulations {
	return &Regulations{regulate.New(regulate.Settings{
		Logger:     set.Logger,
		Registerer: set.Registerer,
		Workspace:  set.Workspace,
		Register:   own.Register,
		Ledger:     own.Ledger,
		Ready:      in.Ready,
	})}
}

// Handler serves POST /regulations and GET /regulations/{id}. Who may use them is
// for the caller to decide.
func (s *Regulations) Handler() http.Handler { return s.Service.Handler() }
