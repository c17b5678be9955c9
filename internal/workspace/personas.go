package workspace

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/internal/workspace/internal/kind"
)

// SourcePersonas is the id of the built-in source from which the calls come that tell of
// audiences and computed traits. It is enabled, has no write key, and is not among
// [Snapshot.Sources].
const SourcePersonas = definition.ReservedID

// Audience is one in force, or what is kept of one that was deleted. It is shared by all
// who hold it and must not be changed.
type Audience struct {
	definition.Audience
	Edition
}

// Trait is a computed trait in force, as [Audience] is.
type Trait struct {
	definition.Trait
	Edition
}

// Edition says which of the states that a definition had this one is.
type Edition struct {
	Version int       // grows by one with each change that is applied, from 1; 0 in a file
	Deleted bool      // its id can't be used again
	Applied time.Time // when that was; zero in a file
	// Earlier are the versions before, the latest first. Those are missing that were too
	// old, or too large together ([keptVersions], [keptBytes]), or are of a release that kept
	// none.
	Earlier []Earlier
}

// Earlier is a version that is not in force any more.
type Earlier struct {
	Version    int             `json:"revision"`
	Applied    time.Time       `json:"at,omitzero"`
	Definition json.RawMessage `json:"definition"` // as [definition.Audience.JSON] and [definition.Trait.JSON] return it
}

const (
	// keptVersions is of how many versions the record tells, with the one in force.
	keptVersions = 20
	// keptBytes bounds what their definitions take together: a record has to stay below a
	// megabyte.
	keptBytes = 256 << 10
)

func (e *Edition) edition() *Edition { return e }

// Follow makes it the version behind another's.
func (e *Edition) Follow(before kind.Own) {
	*e = Edition{Version: 1}
	was, ok := before.(interface {
		edition() *Edition
		JSON() []byte
	})
	if !ok {
		return
	}
	last := was.edition()
	e.Version = last.Version + 1
	e.Earlier = append([]Earlier{{last.Version, last.Applied, was.JSON()}}, last.Earlier...)
}

// Written notes when its record was.
func (e *Edition) Written(at time.Time) { e.Applied = at.UTC() }

// within are the latest of earlier versions that find room beside one that takes some bytes.
func within(all []Earlier, bytes int) []Earlier {
	for i := range all {
		if bytes += len(all[i].Definition); i+1 == keptVersions || bytes > keptBytes {
			return all[:i]
		}
	}
	return all
}

// Delete marks it as deleted.
func (e *Edition) Delete() { e.Deleted = true }

// ValidID tells whether a definition may have an id.
func (*Edition) ValidID(id string) bool { return definition.ValidID(id) }

// Identities is what is taken for one user, across all sources.
type Identities struct {
	AnonymousIDs *AnonymousIDs `file:"anonymous_ids,optional" record:"anonymousIds" desc:"how many anonymous ids one user may claim, which bounds devices that many people share"`
}

// AnonymousIDs bounds how many anonymous ids one user may claim in a time.
type AnonymousIDs struct {
	Max int    `file:"max" default:"100" min:"1" max:"1000000" desc:"the number of them"`
	Per Period `file:"per" default:"7d" want:"a duration of at least a second, such as 30m, 12h or 7d" desc:"the time in which so many are claimed (a duration such as 12h or 7d)"`
}

// Period is a duration above zero, in the notation of definitions.
type Period time.Duration

// MarshalText returns a text such as 7d.
func (p Period) MarshalText() ([]byte, error) {
	return []byte(definition.FormatDuration(time.Duration(p))), nil
}

// UnmarshalText is the inverse of MarshalText.
func (p *Period) UnmarshalText(text []byte) error {
	d, ok := definition.ParseDuration(string(text))
	if !ok || d <= 0 {
		return errors.New("a duration of at least a second, such as 30m, 12h or 7d")
	}
	*p = Period(d)
	return nil
}

// defaultAnonymousIDs holds where the workspace says nothing.
var defaultAnonymousIDs = AnonymousIDs{Max: 100, Per: Period(7 * 24 * time.Hour)}

// record is what the topic holds of a definition.
type record struct {
	Revision   int             `json:"revision"`
	Deleted    bool            `json:"deleted,omitempty"`
	Definition json.RawMessage `json:"definition"`
	Earlier    []Earlier       `json:"earlier,omitempty"`
}

// ReadFile reads an audience.
func (a *Audience) ReadFile(node *yaml.Node, path string) (found document.Problems) {
	a.Audience, found = definition.ReadAudience(node, path)
	return found
}

// ReadRecord is the inverse of Record.
func (a *Audience) ReadRecord(text []byte) error {
	written, err := a.read(text)
	if err == nil {
		a.Audience, err = definition.ParseAudience(written)
	}
	return err
}

// Record returns its record, which is the same for equal audiences.
func (a *Audience) Record() ([]byte, error) {
	return a.record(a.JSON())
}

// Differs returns the keys of the file in which it differs from another.
func (a *Audience) Differs(before kind.Own) []string {
	was, _ := before.(*Audience)
	return differences(definition.AudienceRows(), was.JSON(), a.JSON())
}

// Describe returns its JSON Schema and its keys.
func (*Audience) Describe() (schema map[string]any, rows []definition.Row) {
	return definition.AudienceSchema(), definition.AudienceRows()
}

// ReadFile reads a computed trait.
func (t *Trait) ReadFile(node *yaml.Node, path string) (found document.Problems) {
	t.Trait, found = definition.ReadTrait(node, path)
	return found
}

// ReadRecord is the inverse of Record.
func (t *Trait) ReadRecord(text []byte) error {
	written, err := t.read(text)
	if err == nil {
		t.Trait, err = definition.ParseTrait(written)
	}
	return err
}

// Record returns its record, which is the same for equal traits.
func (t *Trait) Record() ([]byte, error) {
	return t.record(t.JSON())
}

// Differs returns the keys of the file in which it differs from another.
func (t *Trait) Differs(before kind.Own) []string {
	was, _ := before.(*Trait)
	return differences(definition.TraitRows(), was.JSON(), t.JSON())
}

// Describe returns its JSON Schema and its keys.
func (*Trait) Describe() (schema map[string]any, rows []definition.Row) {
	return definition.TraitSchema(), definition.TraitRows()
}

// read takes a record apart.
func (e *Edition) read(text []byte) (written []byte, err error) {
	if _, err := document.ParseJSON(text); err != nil {
		return nil, err
	}
	var r record
	if json.Unmarshal(text, &r) != nil || r.Revision < 1 || r.Definition == nil {
		return nil, errors.New("expected an object with the members revision and definition")
	}
	e.Version, e.Deleted, e.Earlier = r.Revision, r.Deleted, r.Earlier
	return r.Definition, nil
}

func (e *Edition) record(written []byte) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(record{e.Version, e.Deleted, written, within(e.Earlier, len(written))})
	return bytes.TrimSpace(b.Bytes()), err
}

// differences returns the keys, in the order of rows, of which two JSON objects have
// different members.
func differences(rows []definition.Row, before, after []byte) []string {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return nil
	}
	var keys []string
	for _, row := range rows {
		if !bytes.Equal(was[row.Key], is[row.Key]) {
			keys = append(keys, row.Key)
		}
	}
	return keys
}

// Check reports what is wrong with definitions beside one another, and beside the sources
// and destinations.
func (d *Document) Check(report func(path, value, want string)) {
	world := definition.World{Destinations: make(map[string]bool, len(d.Destinations))}
	for i := range d.Sources {
		world.Sources = append(world.Sources, d.Sources[i].ID)
	}
	for i := range d.Destinations {
		world.Destinations[d.Destinations[i].ID] = d.Destinations[i].Connected(SourcePersonas)
	}
	audiences := make([]definition.Audience, len(d.Audiences))
	for i := range d.Audiences {
		audiences[i] = d.Audiences[i].Audience
	}
	traits := make([]definition.Trait, len(d.Traits))
	for i := range d.Traits {
		traits[i] = d.Traits[i].Trait
	}
	definition.Check(audiences, traits, world, report)
}

// ErrUsedID means that a workspace gives an id to an audience or a trait that another one
// had before.
var ErrUsedID = errors.New("an id can't be used again")

// ErrLeftOut means that a workspace lacks a section whose entries can't be brought back
// once they are deleted.
var ErrLeftOut = errors.New("a section is left out")

// Succeeds returns why a workspace may not follow the one before: an error that wraps
// [ErrUsedID] and names each audience and trait whose id one had there that was deleted,
// or is of the other kind, and [ErrLeftOut] where a section with entries there is absent,
// as in a file that was cut short. If the one before was applied by nobody it is the
// example, of which everything may be left out.
func (s *Snapshot) Succeeds(before *Snapshot, applied bool) error {
	var errs []error
	left := func(key string, present bool, n int) {
		if applied && !present && n > 0 {
			errs = append(errs, fmt.Errorf("%w: %s, of which the workspace in force has %d; `%s: []` deletes them for good", ErrLeftOut, key, n, key))
		}
	}
	left("audiences", s.saysAudiences, len(before.audiences))
	left("traits", s.saysTraits, len(before.traits))
	check := func(of, id string) {
		was := before.definedAs[id]
		_, deleted := before.deleted[id]
		if deleted || was != "" && was != of {
			errs = append(errs, fmt.Errorf("%s %s: %w, and %s was %s: choose another", of, id, ErrUsedID, id, aKind(cmp.Or(before.deleted[id], was))))
		}
	}
	for i := range s.audiences {
		check(KindAudience, s.audiences[i].ID)
	}
	for i := range s.traits {
		check(KindTrait, s.traits[i].ID)
	}
	return errors.Join(errs...)
}

func aKind(of string) string {
	if of == KindTrait {
		return "a computed trait"
	}
	return "an audience"
}

// defined is what a snapshot knows of definitions.
type defined struct {
	audiences    []Audience
	traits       []Trait
	audienceByID map[string]Audience
	traitByID    map[string]Trait
	definedAs    map[string]string // the kind, by id
	deleted      map[string]string
	leaving      []Audience
	// Whether there is the section, which may be empty.
	saysAudiences, saysTraits bool

	identity *Identities
}

func define(d *Document) defined {
	s := defined{
		audienceByID: make(map[string]Audience, len(d.Audiences)), traitByID: make(map[string]Trait, len(d.Traits)),
		definedAs: make(map[string]string), deleted: make(map[string]string), identity: d.Identity,
		saysAudiences: d.Audiences != nil, saysTraits: d.Traits != nil,
	}
	leaving := make(map[string]Audience)
	for i := range d.Audiences {
		switch a := &d.Audiences[i]; {
		case !a.Deleted:
			s.audienceByID[a.ID], s.definedAs[a.ID] = *a, KindAudience
		case a.OnDelete == definition.OnDeleteExit:
			leaving[a.ID] = *a
			fallthrough
		default:
			s.deleted[a.ID] = KindAudience
		}
	}
	for i := range d.Traits {
		if t := &d.Traits[i]; t.Deleted {
			s.deleted[t.ID] = KindTrait
		} else {
			s.traitByID[t.ID], s.definedAs[t.ID] = *t, KindTrait
		}
	}
	s.audiences, s.traits, s.leaving = sortedValues(s.audienceByID), sortedValues(s.traitByID), sortedValues(leaving)
	return s
}

// Audiences returns all audiences, enabled or not, ascending by id.
func (s *Snapshot) Audiences() []Audience { return s.audiences }

// Traits returns all computed traits, enabled or not, ascending by id.
func (s *Snapshot) Traits() []Trait { return s.traits }

// Audience returns the audience with an id, enabled or not.
func (s *Snapshot) Audience(id string) (Audience, bool) {
	a, ok := s.audienceByID[id]
	return a, ok
}

// Trait returns the computed trait with an id, enabled or not.
func (s *Snapshot) Trait(id string) (Trait, bool) {
	t, ok := s.traitByID[id]
	return t, ok
}

// Leaving returns the deleted audiences whose members are to hear that they have left,
// ascending by id.
func (s *Snapshot) Leaving() []Audience { return s.leaving }

// DeletedDefinitions returns the ids of audiences and traits that were deleted, ascending.
func (s *Snapshot) DeletedDefinitions() []string { return slices.Sorted(maps.Keys(s.deleted)) }

// AnonymousIDs returns how many anonymous ids one user may claim.
func (s *Snapshot) AnonymousIDs() AnonymousIDs {
	if s.identity == nil || s.identity.AnonymousIDs == nil {
		return defaultAnonymousIDs
	}
	return *s.identity.AnonymousIDs
}
