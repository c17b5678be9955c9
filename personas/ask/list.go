package ask

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// Phase is how far the stage is with a definition.
type Phase string

// The phases.
const (
	Disabled Phase = "disabled" // nothing is told
	Waiting  Phase = "waiting"  // the stage has not taken it up in every partition
	Filling  Phase = "filling"  // its history is read: nothing is told yet
	Sweeping Phase = "sweeping" // each user is looked at
	Ready    Phase = "ready"
)

// Summary is a definition in short, and how far the stage is with it.
type Summary struct {
	Key     string `json:"key"`
	Kind    Kind   `json:"kind"`
	Name    string `json:"name"`
	Version int    `json:"version"`
	Phase   Phase  `json:"phase"`
	// Size is how many users are members, or were told a value.
	Size int64 `json:"size"`
	// Entered are the members whose last change was to enter, less than a day ago, and
	// Left those whose was to leave. Of a computed trait they are 0.
	Entered int64 `json:"entered_1d"`
	Left    int64 `json:"left_1d"`
	// Done and Total are offsets of raw-events that are read once more to fill it.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
	// ETA is when it is filled if that goes on as it did; nil: it is, or nobody knows.
	ETA *time.Time `json:"eta"`
}

// Details are all there is to say of a definition.
type Details struct {
	Summary

	Definition json.RawMessage `json:"definition"`
	Partitions []Progress      `json:"partitions"`
	// Versions are those that are kept, the one in force first.
	Versions []Version `json:"versions"`
}

// Progress is how far the stage is with a definition in one partition.
type Progress struct {
	Partition int32      `json:"partition"`
	Phase     Phase      `json:"phase"`
	Done      int64      `json:"done"`
	Total     int64      `json:"total"`
	ETA       *time.Time `json:"eta"`
}

// List sums up every definition, in the order of their keys. It reads all of the
// changelog, and needs about 32 bytes of memory for each user.
func List(ctx context.Context, log *Log) ([]Summary, error) {
	all, err := details(ctx, log, log.Workspace.definitions())
	summaries := make([]Summary, len(all))
	for i := range all {
		summaries[i] = all[i].Summary
	}
	return summaries, err
}

// Show returns all there is to say of one definition. The error is an [Unknown] for a key
// that there is not.
func Show(ctx context.Context, log *Log, key string) (*Details, error) {
	d, err := log.Workspace.find(key)
	if err != nil {
		return nil, err
	}
	all, err := details(ctx, log, []Definition{*d})
	if err != nil {
		return nil, err
	}
	return &all[0], nil
}

func details(ctx context.Context, log *Log, of []Definition) ([]Details, error) {
	c, err := log.Workspace.compile()
	if err != nil {
		return nil, err
	}
	t := newTally(of, time.Now().Add(-day))
	places, err := log.state(ctx, nil, func(_ int32, user, record []byte) error {
		p, broken := c.Decode(record)
		if broken == nil {
			t.take(user, p)
		}
		return broken
	})
	if err != nil {
		return nil, err
	}
	inForce, err := personas.Print(&log.Workspace.defined)
	if err != nil {
		return nil, err
	}
	all := make([]Details, len(of))
	for i := range of {
		d := &of[i]
		all[i] = Details{Definition: d.json, Versions: log.Workspace.versions[d.ID], Summary: Summary{Key: d.ID, Kind: d.Kind, Name: d.Name, Version: d.Version}}
		t.count(i, &all[i].Summary)
		all[i].follow(d, c.Needs(d.ID), places, inForce)
	}
	return all, nil
}

const day = 24 * time.Hour

// follow says how far the stage is with a definition that needs some leaves.
func (d *Details) follow(of *Definition, needs []engine.LeafID, places map[int32]*place, inForce string) {
	order := []Phase{Ready, Sweeping, Filling, Waiting, Disabled}
	d.Phase, d.Partitions = Ready, []Progress{}
	if len(places) == 0 {
		d.Phase = Waiting
	}
	for _, num := range slices.Sorted(maps.Keys(places)) {
		p := places[num].progress(needs, inForce)
		p.Partition = num
		d.Partitions = append(d.Partitions, p)
		d.Done, d.Total = d.Done+p.Done, d.Total+p.Total
		if slices.Index(order, p.Phase) > slices.Index(order, d.Phase) {
			d.Phase = p.Phase
		}
		if p.ETA != nil && (d.ETA == nil || p.ETA.After(*d.ETA)) {
			d.ETA = p.ETA
		}
	}
	if !of.Enabled {
		d.Phase, d.Partitions, d.ETA = Disabled, []Progress{}, nil
	}
}

// progress is how far a partition is with what needs some leaves.
func (p *place) progress(needs []engine.LeafID, inForce string) Progress {
	switch {
	case p.Catalogue != inForce:
		return Progress{Phase: Waiting}
	case p.Sweep != nil && !slices.ContainsFunc(needs, func(id engine.LeafID) bool { return !p.Ready(id) }):
		return Progress{Phase: Sweeping}
	}
	done := Progress{Phase: Ready}
	for i := range p.Fills {
		f := &p.Fills[i]
		if !slices.ContainsFunc(needs, func(id engine.LeafID) bool { return slices.Contains(f.Leaves, id) }) {
			continue
		}
		done.Phase = Filling
		if f.From >= 0 {
			done.Done, done.Total = done.Done+f.Next-f.From, done.Total+f.Cut-f.From
		}
	}
	if done.Phase == Filling {
		done.ETA = p.eta()
	}
	return done
}

// eta is when all fills of the partition are done if they go on as they did.
func (p *place) eta() *time.Time {
	left := left(&p.Meta)
	took, done := p.wrote.Sub(p.began), p.first-left
	if done <= 0 || took <= 0 {
		return nil
	}
	at := p.wrote.Add(time.Duration(float64(took) * float64(left) / float64(done))).UTC().Truncate(time.Second)
	return &at
}

// tally counts users by what they were told last. Of each it keeps which of the sets of
// marks is theirs, by a hash of their id.
type tally struct {
	kinds []Kind
	ids   []engine.ToldID
	since time.Time
	seed  maphash.Seed
	users map[uint64]uint32
	sets  map[string]uint32
	marks []string // by number: of each definition, what is below
	look  []byte
}

const (
	isMember = 1 << iota
	isRecent // changed since
)

func newTally(of []Definition, since time.Time) *tally {
	t := &tally{since: since, seed: maphash.MakeSeed(), users: make(map[uint64]uint32), sets: make(map[string]uint32)}
	for i := range of {
		t.kinds = append(t.kinds, of[i].Kind)
		t.ids = append(t.ids, engine.ToldIDOf(of[i].Kind, of[i].ID))
	}
	t.look = make([]byte, len(of))
	return t
}

func (t *tally) take(user []byte, p *engine.Profile) {
	clear(t.look)
	for i, id := range t.ids {
		told, ok := p.ToldOf(id)
		if !ok {
			continue
		}
		if told.Member || t.kinds[i] == engine.ClassComputedTrait {
			t.look[i] |= isMember
		}
		if t.kinds[i] == engine.ClassAudience && told.At.After(t.since) {
			t.look[i] |= isRecent
		}
	}
	set, known := t.sets[string(t.look)]
	if !known {
		set = uint32(len(t.marks))
		t.marks = append(t.marks, string(t.look))
		t.sets[string(t.look)] = set
	}
	t.users[maphash.Bytes(t.seed, user)] = set
}

// count notes the numbers of one definition.
func (t *tally) count(i int, s *Summary) {
	for _, set := range t.users {
		switch t.marks[set][i] {
		case isMember:
			s.Size++
		case isMember | isRecent:
			s.Size++
			s.Entered++
		case isRecent:
			s.Left++
		}
	}
}
