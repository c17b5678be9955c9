package plan

import (
	"sync"
	"sync/atomic"

	"github.com/anabranch/anabranch/internal/workspace"
)

// Plans holds the compiled plans of the workspace that was asked about last. The
// zero value is ready for use, by many goroutines.
type Plans struct {
	renewal sync.Mutex // so that a change is compiled once
	current atomic.Pointer[edition]
}

// edition is the plans of one workspace.
type edition struct {
	snapshot *workspace.Snapshot
	bySource map[string]*Plan
	compiled map[*workspace.TrackingPlan]*Plan
}

// Of returns the plan of a source of the workspace, nil when it has none.
func (p *Plans) Of(s *workspace.Snapshot, source string) *Plan {
	e := p.current.Load()
	if e == nil || e.snapshot != s {
		e = p.renew(s)
	}
	return e.bySource[source]
}

// renew compiles the plans of a workspace. Those that the last one had too are
// taken over: a workspace may change often, and its plans rarely do.
func (p *Plans) renew(s *workspace.Snapshot) *edition {
	p.renewal.Lock()
	defer p.renewal.Unlock()
	last := p.current.Load()
	switch {
	case last == nil:
		last = new(edition)
	case last.snapshot == s:
		return last
	}
	e := &edition{snapshot: s, bySource: make(map[string]*Plan), compiled: make(map[*workspace.TrackingPlan]*Plan)}
	for _, source := range s.Sources() {
		if source.Plan == nil {
			continue
		}
		compiled, ok := last.compiled[source.Plan]
		if !ok {
			compiled = Compile(source.Plan)
		}
		e.bySource[source.ID], e.compiled[source.Plan] = compiled, compiled
	}
	p.current.Store(e)
	return e
}
