package workspace

import (
	"maps"
	"slices"

	"github.com/anabranch/anabranch/schemas"
)

// Snapshot is one state of the workspace. It is immutable: what its methods
// return is shared by all callers and must not be changed.
type Snapshot struct {
	sources      []Source
	destinations []*Destination
	sourceByID   map[string]Source
	destByID     map[string]*Destination
	enabledByKey map[[32]byte]Source
	blockedIDs   map[string]*schemas.BlockedIDs // of sources that have their own
	listeners    map[string][]*Destination
	byType       map[string][]*Destination
	byTopic      map[string]*Destination
	pauses       map[string]Pause // of destinations with webhooks
	defined
}

// NewSnapshot returns a snapshot of copies of sources and destinations, in any
// order; tracking plans, which nobody changes, are shared. Of two with one id the
// last counts, and so does the last of two enabled sources with one write key; a
// workspace file may have neither.
func NewSnapshot(sources []Source, destinations []Destination) *Snapshot {
	return (&Document{Sources: sources, Destinations: destinations}).Snapshot()
}

// Snapshot returns the workspace that the document describes, as [NewSnapshot] does.
// Definitions in it, which nobody changes, are shared.
func (d *Document) Snapshot() *Snapshot {
	sources, destinations := d.Sources, d.Destinations
	s := &Snapshot{
		defined:      define(d),
		sourceByID:   make(map[string]Source, len(sources)),
		destByID:     make(map[string]*Destination, len(destinations)),
		enabledByKey: make(map[[32]byte]Source, len(sources)),
		listeners:    make(map[string][]*Destination, len(sources)),
		blockedIDs:   make(map[string]*schemas.BlockedIDs),
		pauses:       make(map[string]Pause, len(d.Pauses)),
	}
	for _, source := range sources {
		s.sourceByID[source.ID] = source
	}
	for i := range destinations {
		s.destByID[destinations[i].ID] = destinations[i].clone()
	}
	s.sources = sortedValues(s.sourceByID)
	s.destinations = sortedValues(s.destByID)
	s.index()
	s.classify()
	s.keepPauses(d.Pauses)
	return s
}

// sortedValues returns the values of m in the order of their keys.
func sortedValues[V any](m map[string]V) []V {
	values := make([]V, 0, len(m))
	for _, id := range slices.Sorted(maps.Keys(m)) {
		values = append(values, m[id])
	}
	return values
}

// index computes what the hot paths look up: nothing disabled is in it, so
// disabled and unknown are the same case to ingest and router.
func (s *Snapshot) index() {
	for _, source := range s.sources {
		if source.Identity != nil {
			s.blockedIDs[source.ID] = schemas.NewBlockedIDs(source.Identity.Blocked)
		}
		if source.Enabled {
			s.enabledByKey[source.WriteKeyHash] = source
			s.connect(source.ID)
		}
	}
	if _, declared := s.sourceByID[SourcePersonas]; !declared { // as one may be that an earlier release took
		s.connect(SourcePersonas)
	}
}

// connect lists the enabled destinations of a source.
func (s *Snapshot) connect(source string) {
	for _, destination := range s.destinations {
		if destination.Enabled && destination.Connected(source) {
			s.listeners[source] = append(s.listeners[source], destination)
		}
	}
}

// SourceByKey returns the enabled source that a write key belongs to. Unknown
// keys and keys of disabled sources take the same path: one hash and one miss
// in the same table, so neither answer nor time tells them apart.
func (s *Snapshot) SourceByKey(writeKey string) (Source, bool) {
	source, ok := s.enabledByKey[HashWriteKey(writeKey)]
	return source, ok
}

// Source returns the source with an id, enabled or not. [SourcePersonas] always is.
func (s *Snapshot) Source(id string) (Source, bool) {
	source, ok := s.sourceByID[id]
	if !ok && id == SourcePersonas {
		return builtIn, true
	}
	return source, ok
}

// builtIn is what tells of audiences and computed traits.
var builtIn = Source{ID: SourcePersonas, Name: "Personas", Enabled: true}

// Sources returns all sources, ascending by id.
func (s *Snapshot) Sources() []Source { return s.sources }

// Destination returns the destination with an id, enabled or not.
func (s *Snapshot) Destination(id string) (*Destination, bool) {
	destination, ok := s.destByID[id]
	return destination, ok
}

// Destinations returns all destinations, ascending by id.
func (s *Snapshot) Destinations() []*Destination { return s.destinations }

// Listeners returns the enabled destinations connected to a source, ascending
// by id; none when the source is unknown or disabled. It allocates nothing.
func (s *Snapshot) Listeners(sourceID string) []*Destination {
	return s.listeners[sourceID]
}

// BlockedIDs returns the ids that stand for nobody in the calls of a source.
func (s *Snapshot) BlockedIDs(sourceID string) *schemas.BlockedIDs {
	return s.blockedIDs[sourceID]
}
