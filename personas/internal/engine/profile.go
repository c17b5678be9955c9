package engine

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/personas/internal/state"
)

// Profile is one user's state, decoded. It is not for concurrent use.
type Profile struct {
	// Redirect is the user that this one was merged into; empty: none. The state is then
	// that user's. Who sets it calls Touch.
	Redirect string
	// Links are the ids that were merged into this user, or belong to them.
	Links []Link
	// Refused are the newest of those that the user claimed and did not get.
	Refused []Link
	// Rank decides which of two users may be merged into the other one; it never falls.
	Rank uint64
	// Deletion is the last deletion of the user; its zero value: none.
	Deletion Deletion

	identified  bool // some call had a user id
	seen        bool
	first, last int64 // Unix milliseconds
	due         int64 // the same; 0: never
	seq         uint64
	sources     []string // ascending
	told        []told   // ascending by id
	entries     []entry  // ascending by id

	// What is not stored.
	c       *Catalogue // that touched is of
	touched marks      // definitions that may have changed since they were evaluated
	full    bool       // all of them may have
	dirty   bool
	clock   int64 // when they were evaluated last
}

// entry is the state of one leaf: raw as it was stored, until somebody asks for it.
type entry struct {
	id  LeafID
	raw []byte
	st  state.State
	own bool // no other profile has st
}

// told is what was told last of a definition.
type told struct {
	id     uint64
	at     int64
	member bool
	digest []byte // of a computed trait's value; nil: of an audience
}

// Link is an id that belongs to a user.
type Link struct {
	ID string
	At time.Time // since when; whole milliseconds
}

// Deletion marks that a user was deleted: calls before Offset are not theirs any more.
type Deletion struct {
	Offset  int64  // of the request on raw-events
	Request string // id of the request; empty: never deleted
}

// Told is what was told last of a definition.
type Told struct {
	Member bool      // of an audience
	At     time.Time // of the change
}

// NewProfile returns that of a user of whom nothing is known.
func (c *Catalogue) NewProfile() *Profile { return &Profile{} }

// Clone returns a copy that can be changed, and dropped, without p: it shares with p what
// neither of both changes. It costs little.
func (p *Profile) Clone() *Profile {
	for i := range p.entries {
		p.entries[i].own = false
	}
	clone := *p
	clone.Links, clone.Refused, clone.sources = slices.Clone(p.Links), slices.Clone(p.Refused), slices.Clone(p.sources)
	clone.told, clone.entries, clone.touched = slices.Clone(p.told), slices.Clone(p.entries), slices.Clone(p.touched)
	return &clone
}

// Due returns when the truth flips next by itself, or may; zero: never.
func (p *Profile) Due() time.Time {
	if p.due == 0 {
		return time.Time{}
	}
	return time.UnixMilli(p.due).UTC()
}

// Dirty reports whether p differs from when it was decoded, made, or last Clean.
func (p *Profile) Dirty() bool { return p.dirty }

// Clean says that p is stored as it is.
func (p *Profile) Clean() { p.dirty = false }

// Touch says that p was changed from outside.
func (p *Profile) Touch() { p.dirty = true }

// Empty reports whether no call was ever folded.
func (p *Profile) Empty() bool { return !p.seen }

// Seen returns the earliest and the latest At of the user's calls; zero: none.
func (p *Profile) Seen() (first, last time.Time) {
	if !p.seen {
		return time.Time{}, time.Time{}
	}
	return time.UnixMilli(p.first).UTC(), time.UnixMilli(p.last).UTC()
}

// Sources returns the ids of the sources that have seen the user, ascending. The slice
// must not be changed.
func (p *Profile) Sources() []string { return p.sources }

// WasTold reports whether anything was ever told of the user.
func (p *Profile) WasTold() bool { return len(p.told) > 0 }

// Link adds an id to Links, or makes its time an earlier one; false: it was there.
func (p *Profile) Link(id string, at time.Time) bool {
	for i := range p.Links {
		if p.Links[i].ID == id {
			if at.Before(p.Links[i].At) {
				p.Links[i].At, p.dirty = at, true
			}
			return false
		}
	}
	p.Links = append(p.Links, Link{id, at})
	p.dirty = true
	return true
}

// Told returns what was told of a definition last; false: nothing.
func (p *Profile) Told(class Class, key string) (Told, bool) {
	t := p.find(toldID(class, key))
	if t == nil {
		return Told{}, false
	}
	return Told{Member: t.member, At: time.UnixMilli(t.at).UTC()}, true
}

// Forget forgets all of the user but the marks of the deletion, the rank, and the count of
// changes, which later ones must not repeat.
func (p *Profile) Forget(d Deletion) {
	*p = Profile{Deletion: d, Rank: p.Rank, seq: p.seq, dirty: true}
}

func toldID(class Class, key string) uint64 { return hash("told", string(class), key) }

func (p *Profile) find(id uint64) *told {
	i, ok := p.place(id)
	if !ok {
		return nil
	}
	return &p.told[i]
}

func (p *Profile) place(id uint64) (int, bool) {
	return slices.BinarySearchFunc(p.told, id, func(t told, id uint64) int { return cmp.Compare(t.id, id) })
}

func (p *Profile) tell(t told) {
	i, ok := p.place(t.id)
	if !ok {
		p.told = slices.Insert(p.told, i, t)
		return
	}
	p.told[i] = t
}

// Append is [Profile.Append] for a catalogue.
func (c *Catalogue) Append(dst []byte, p *Profile) []byte {
	p.bind(c)
	return p.Append(dst)
}

// bind makes p one of a catalogue's. What calls have touched under another one is not
// known any more.
func (p *Profile) bind(c *Catalogue) {
	if p.c == c {
		return
	}
	p.full = p.full || p.pending()
	p.c, p.touched = c, newMarks(len(c.told))
}

// pending reports whether calls have touched something that was not evaluated since.
func (p *Profile) pending() bool { return p.full || !p.touched.empty() }

// see notes that a call was made.
func (p *Profile) see(call *Call) {
	if !p.seen {
		p.full = true // whoever did something never did the rest
	}
	if call.UserID != "" && !p.identified {
		p.identified, p.full, p.dirty = true, true, true
	}
	p.seeAt(call.At.UnixMilli())
	if call.Source != "" {
		p.sawSource(call.Source)
	}
}

func (p *Profile) seeAt(at int64) {
	if p.seen && p.first <= at && at <= p.last {
		return
	}
	if !p.seen {
		p.first, p.last = at, at
	}
	p.seen, p.dirty = true, true
	p.first, p.last = min(p.first, at), max(p.last, at)
	if p.c != nil {
		p.touched.add(p.c.seen)
	}
}

func (p *Profile) sawSource(source string) {
	if i, ok := slices.BinarySearch(p.sources, source); !ok {
		p.sources = slices.Insert(p.sources, i, strings.Clone(source))
		p.dirty = true
	}
}

func (p *Profile) entry(id LeafID) (int, bool) {
	return slices.BinarySearchFunc(p.entries, id, func(e entry, id LeafID) int { return cmp.Compare(e.id, id) })
}

// state returns the state of a leaf, to be read; nil: none.
func (p *Profile) state(l *leaf) state.State {
	i, ok := p.entry(l.id)
	if !ok {
		return nil
	}
	e := &p.entries[i]
	if e.st == nil {
		e.st, e.own = p.c.decodeState(l, e.raw), true
	}
	return e.st
}

// mutable returns the state of a leaf, to be changed.
func (p *Profile) mutable(l *leaf) state.State {
	i, ok := p.entry(l.id)
	if !ok {
		p.entries = slices.Insert(p.entries, i, entry{id: l.id, st: l.spec.New(), own: true})
		return p.entries[i].st
	}
	e := &p.entries[i]
	switch {
	case e.st == nil:
		e.st, e.own = p.c.decodeState(l, e.raw), true
	case !e.own:
		e.st, e.own = e.st.Clone(), true
	}
	e.raw = nil
	return e.st
}
