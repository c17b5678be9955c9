package metrics

import "sync"

const (
	// maxSources is how many sources have series of their own: each costs every scrape.
	maxSources = 500
	// otherSources is the label that the rest shares. No id of a source looks like it.
	otherSources = "_other"
)

// sources says which sources have series of their own: the first that are asked
// for, as long as the process lives. The zero value is ready.
type sources struct {
	mu  sync.Mutex
	own map[string]bool
}

// label returns the value of the label source for the source of an id.
func (s *sources) label(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.own[id] {
		return id
	}
	if len(s.own) == maxSources {
		return otherSources
	}
	if s.own == nil {
		s.own = make(map[string]bool)
	}
	s.own[id] = true
	return id
}
