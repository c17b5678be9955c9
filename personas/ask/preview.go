package ask

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// sampled is how many users a preview shows of each definition.
const sampled = 20

// Preview is what another workspace would change.
type Preview struct {
	Definitions []Difference `json:"definitions"`
	AsOf        []Extent     `json:"as_of"`
}

// Difference is what another version of a definition would change at once.
type Difference struct {
	Key     string `json:"key"`
	Kind    Kind   `json:"kind"`
	Version int    `json:"version"` // in force; 0: there is none
	Deleted bool   `json:"deleted,omitempty"`
	// Before is how many users are members, or were told a value, and After how many would
	// be then.
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	// Enter and Leave are how many members would be told so, and Change how many users a
	// value of a computed trait.
	Enter  int64    `json:"enter"`
	Leave  int64    `json:"leave"`
	Change int64    `json:"change"`
	Sample []Reason `json:"sample"`

	id engine.ToldID
}

// Reason is a user for whom something would change, and why.
type Reason struct {
	UserID string          `json:"user_id"`
	Value  json.RawMessage `json:"value"` // that would be told; of an audience true or false
	Tree   *Node           `json:"tree"`  // nil: the definition is deleted

	rank uint64 // by a hash of the id, so that it is always the same sample
}

// Changes returns what another workspace would change, of one key or, if that is empty, of
// all definitions that differ from those in force, or refer to one that does. Nothing is
// written. The error is an
// [Unknown] for a key that is in neither workspace.
//
// Calls are read from raw-events only where a definition looks at something that none in
// force looks at. It needs memory for the users of two partitions, about a kilobyte each,
// and 40 bytes for each of their calls that count.
func Changes(ctx context.Context, log *Log, next Workspace, key string) (*Preview, error) {
	of, err := differing(&log.Workspace, &next, key)
	if err != nil {
		return nil, err
	}
	p := &Preview{Definitions: of}
	if len(of) == 0 {
		p.AsOf = []Extent{}
		return p, nil
	}
	asked := make(map[string]*Difference, len(of))
	for i := range of {
		asked[of[i].Key] = &of[i]
	}
	c, err := engine.Compile(next.beside(&log.Workspace).alone(func(key string) bool { return asked[key] != nil }))
	if err != nil {
		return nil, err
	}
	r := &replay{log: log, c: c, refold: lacking, look: func(u *computed) error { return p.take(c, u, asked) }}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	p.AsOf = r.extents()
	return p, nil
}

// lacking reports whether the stage has yet to fill a leaf, or has never had it.
func lacking(m *changelog.Meta, id engine.LeafID) bool {
	return !slices.Contains(m.Leaves, id) || slices.Contains(m.Residue, id) || !m.Ready(id)
}

// differing are the definitions of a preview, in the order of their keys.
func differing(now, next *Workspace, key string) ([]Difference, error) {
	before := make(map[string]Definition)
	for _, d := range now.definitions() {
		before[d.ID] = d
	}
	var all []Difference
	found := false
	near := nearestTo(key)
	add := func(d *Definition, version int, deleted, differs bool) {
		near.try(d.ID)
		found = found || d.ID == key
		if d.ID == key || key == "" && differs {
			all = append(all, Difference{Key: d.ID, Kind: d.Kind, Version: version, Deleted: deleted, Sample: []Reason{}, id: engine.ToldIDOf(d.Kind, d.ID)})
		}
	}
	differs := next.follow(func(d *Definition) bool {
		was, there := before[d.ID]
		return !there || !bytes.Equal(was.json, d.json)
	})
	for _, d := range next.definitions() {
		add(&d, before[d.ID].Version, false, differs[d.ID])
		delete(before, d.ID)
	}
	for _, was := range before {
		add(&was, was.Version, true, true)
	}
	if key != "" && !found {
		return nil, &Unknown{"audience or computed trait", key, near.near}
	}
	slices.SortFunc(all, func(a, b Difference) int { return cmp.Compare(a.Key, b.Key) })
	return all, nil
}

// beside returns the definitions, and the audiences in force that would be deleted.
func (w *Workspace) beside(now *Workspace) *Workspace {
	next := Workspace{defined: engine.Definitions{Audiences: slices.Clone(w.defined.Audiences), Traits: slices.Clone(w.defined.Traits)}}
	for i := range now.defined.Audiences {
		was := now.defined.Audiences[i]
		if !slices.ContainsFunc(next.defined.Audiences, func(a engine.Audience) bool { return a.ID == was.ID }) {
			was.Deleted = true
			next.defined.Audiences = append(next.defined.Audiences, was)
		}
	}
	return &next
}

// take notes what would change for a user.
func (p *Preview) take(c *engine.Catalogue, u *computed, asked map[string]*Difference) error {
	for _, d := range asked {
		if had(d, u.before) {
			d.Before++
		}
		if !d.Deleted && had(d, u.profile) {
			d.After++
		}
	}
	for i := range u.changes {
		change := &u.changes[i]
		d := asked[change.Key]
		if d == nil {
			continue
		}
		value := json.RawMessage(change.Value)
		switch {
		case d.Kind == engine.ClassComputedTrait:
			d.Change++
		case change.Member:
			d.Enter++
			value = json.RawMessage("true")
		default:
			d.Leave++
			value = json.RawMessage("false")
		}
		if err := d.sample(c, u, value); err != nil {
			return err
		}
	}
	return nil
}

func had(d *Difference, p *engine.Profile) bool {
	told, ok := p.ToldOf(d.id)
	return ok && (told.Member || d.Kind == engine.ClassComputedTrait)
}

// sample keeps the users whose ids have the lowest hashes.
func (d *Difference) sample(c *engine.Catalogue, u *computed, value json.RawMessage) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(u.id)) // it never fails
	r := Reason{UserID: u.id, Value: value, rank: h.Sum64()}
	if len(d.Sample) == sampled && d.Sample[sampled-1].rank <= r.rank {
		return nil
	}
	if !d.Deleted {
		node, err := c.Explain(u.profile, d.Key, u.now)
		if err != nil {
			return fmt.Errorf("user %q: %w", u.id, err)
		}
		counters := c.Counters(d.Key, u.now)
		r.Tree = treeOf(&node, &counters)
	}
	d.Sample = append(d.Sample, r)
	slices.SortFunc(d.Sample, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.UserID, b.UserID))
	})
	d.Sample = d.Sample[:min(len(d.Sample), sampled)]
	return nil
}
