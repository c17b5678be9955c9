package workspace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Change is the difference that one source or destination makes. It names
// what differs and shows none of it, so that it can be printed.
type Change struct {
	Op     Op
	Kind   string   // KindSource or KindDestination
	ID     string   // of the source or destination
	Fields []string // Changed: the keys of the file that differ, in its order
}

// The two kinds of things that a workspace holds.
const (
	KindSource      = "source"
	KindDestination = "destination"
)

// Op is what happened to a source or destination.
type Op byte

// The three things that can happen, as they are printed.
const (
	Added   Op = '+'
	Changed Op = '~'
	Removed Op = '-'
)

// String returns a line such as "~ destination crm: endpoints, sharedSecret
// changed" or "- source website".
func (c Change) String() string {
	line := fmt.Sprintf("%c %s %s", c.Op, c.Kind, c.ID)
	if c.Op == Changed {
		line += ": " + strings.Join(c.Fields, ", ") + " changed"
	}
	return line
}

// Diff returns what has to change for before to become after: sources
// ahead of destinations, each by id. It is empty when both say the same.
func Diff(before, after *Snapshot) []Change {
	changes := diffByID(KindSource, before.sourceByID, after.sourceByID, Source.differences)
	return append(changes, diffByID(KindDestination, before.destByID, after.destByID, (*Destination).differences)...)
}

func diffByID[T any](kind string, before, after map[string]T, differences func(T, T) []string) []Change {
	ids := maps.Clone(before)
	maps.Copy(ids, after)
	var changes []Change
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		was, existed := before[id]
		is, exists := after[id]
		switch {
		case !existed:
			changes = append(changes, Change{Op: Added, Kind: kind, ID: id})
		case !exists:
			changes = append(changes, Change{Op: Removed, Kind: kind, ID: id})
		default:
			if fields := differences(was, is); len(fields) > 0 {
				changes = append(changes, Change{Op: Changed, Kind: kind, ID: id, Fields: fields})
			}
		}
	}
	return changes
}

// difference is a key of the file and whether its value differs.
type difference struct {
	field   string
	differs bool
}

func differing(all ...difference) []string {
	var fields []string
	for _, d := range all {
		if d.differs {
			fields = append(fields, d.field)
		}
	}
	return fields
}

func (s Source) differences(other Source) []string {
	return differing(
		difference{"name", s.Name != other.Name},
		difference{"writeKey", s.WriteKeyHash != other.WriteKeyHash},
		difference{"enabled", s.Enabled != other.Enabled},
		difference{"trackingPlan", !s.Plan.equal(other.Plan)},
	)
}

func (d *Destination) differences(other *Destination) []string {
	return differing(
		difference{"type", d.Type != other.Type},
		difference{"name", d.Name != other.Name},
		difference{"sources", !slices.Equal(d.Sources, other.Sources)},
		difference{"enabled", d.Enabled != other.Enabled},
		difference{"sharedSecret", d.SharedSecret != other.SharedSecret},
		difference{"endpoints", !slices.EqualFunc(d.Endpoints, other.Endpoints, Endpoint.equal)},
	)
}

func (e Endpoint) equal(other Endpoint) bool {
	return e.URL == other.URL && slices.Equal(e.Headers, other.Headers)
}
