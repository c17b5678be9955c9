package regulation

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/anabranch/anabranch/schemas"
)

// Register is the state of all regulations as far as the topic was read. It is
// made by NewRegister; all methods may be called at the same time, but Apply by
// one follower alone.
type Register struct {
	Suppressed Suppressed

	former *Register // what the topic `workspace` says; nil in that one itself
	now    *Register // the one that it is former of
	keys   *Keys

	mu      sync.Mutex
	entries map[string]*entry
	changed chan struct{} // closed by the next change of a regulation
}

// entry is what is known of one regulation.
type entry struct {
	Regulation

	stored bool // its own record was read; the others stand before it
	parts  map[int][]string
	token  string
	former map[string]bool // tokens of the runs before
}

// NewRegister returns the state of empty topics, for a process that has some keys, or
// none. missing is told the id of each key that users are suppressed under and that is
// none of these; it may be nil.
func NewRegister(keys *Keys, missing func(key string)) *Register {
	g := newRegister(keys)
	g.Suppressed.missing.say = missing
	g.former = newRegister(nil)
	g.former.now = g
	g.Suppressed.former = &g.former.Suppressed.users
	return g
}

func newRegister(keys *Keys) *Register {
	g := &Register{keys: keys, entries: make(map[string]*entry), changed: make(chan struct{})}
	g.Suppressed.setKeys(keys)
	return g
}

// Former takes in what earlier releases wrote, to the topic `workspace`.
func (g *Register) Former() *Register { return g.former }

// Apply takes in one record of the topic `regulations`. One that can't be read is an error and
// changes nothing. The error quotes nothing of the value.
func (g *Register) Apply(key, value []byte) error {
	kind, id, _ := strings.Cut(string(key), "/")
	if kind == kindSuppression {
		user, ok := parseAlias(id)
		if !ok {
			return fmt.Errorf("key %.80q: expected %s/<32 hexadecimal digits>, or %s/<id of a key>.<32 hexadecimal digits>", key, kindSuppression, kindSuppression)
		}
		var r suppressionRecord
		if user.key == "" && json.Unmarshal(value, &r) == nil && r.Lifted {
			g.Suppressed.lift(user.hash)
		} else {
			g.Suppressed.set(user, value != nil)
		}
		return nil
	}
	// What a later release wrote is left to that one, and what was known of the key is
	// kept. It does not concern suppressions, of which the key says all.
	err := schemas.CheckVersion(value)
	if err == nil {
		err = g.apply(kind, id, value)
	}
	if err != nil {
		return fmt.Errorf("key %.80q: %w", key, err)
	}
	g.wake()
	return nil
}

// wake tells of a change.
func (g *Register) wake() {
	g.mu.Lock()
	close(g.changed)
	g.changed = make(chan struct{})
	g.mu.Unlock()
	if g.now != nil {
		g.now.wake()
	}
}

func (g *Register) apply(kind, id string, value []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	ok := schemas.ValidID(id)
	if kind == kindSubjects {
		id, n, ok = splitPart(id)
	}
	if !ok {
		return errors.New("expected <kind>/<id>")
	}
	switch kind {
	case kindRegulation:
		return g.setRegulation(id, value)
	case kindSubjects:
		return g.setPart(id, n, value)
	case kindRun:
		return g.setRun(id, value)
	}
	return fmt.Errorf("expected one of the kinds %s, %s, %s, %s", kindRegulation, kindSubjects, kindRun, kindSuppression)
}

func (g *Register) setRegulation(id string, value []byte) error {
	if value == nil {
		delete(g.entries, id)
		return nil
	}
	r, err := decodeRegulation(id, value)
	if err != nil {
		return err
	}
	e := g.entry(id)
	e.Regulation, e.stored = r, true
	if r.Status.Final() {
		e.parts, e.token, e.former = nil, "", nil
	}
	return nil
}

func (g *Register) setPart(id string, n int, value []byte) error {
	if value == nil {
		g.removing(id, func(e *entry) { delete(e.parts, n) })
		return nil
	}
	var r subjectsRecord
	if json.Unmarshal(value, &r) != nil {
		return errNotJSON
	}
	e := g.entry(id)
	if e.parts == nil {
		e.parts = make(map[int][]string)
	}
	e.parts[n] = r.Subjects
	return nil
}

// maxFormer bounds the tokens that are kept of what is claimed again and again. Who is so
// far behind gives up for lack of time.
const maxFormer = 1000

func (g *Register) setRun(id string, value []byte) error {
	if value == nil {
		g.removing(id, func(e *entry) { e.token = "" })
		return nil
	}
	var r runRecord
	if json.Unmarshal(value, &r) != nil {
		return errNotJSON
	}
	e := g.entry(id)
	if e.token != "" {
		if e.former == nil || len(e.former) == maxFormer {
			e.former = make(map[string]bool)
		}
		e.former[e.token] = true
	}
	e.token = r.Token
	return nil
}

func (g *Register) entry(id string) *entry {
	if g.entries[id] == nil {
		g.entries[id] = new(entry)
	}
	return g.entries[id]
}

// removing does not make an entry of which there is nothing to remove.
func (g *Register) removing(id string, remove func(*entry)) {
	if e := g.entries[id]; e != nil {
		remove(e)
	}
}

// Get returns a regulation; false for one that no topic knows.
func (g *Register) Get(id string) (Regulation, bool) {
	e := g.look(id)
	return e.Regulation, e.stored
}

// All returns all regulations, the latest first.
func (g *Register) All() []Regulation {
	var all []Regulation
	for _, id := range g.ids() {
		if r, known := g.Get(id); known {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Regulation) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Work is what is left to do of a regulation.
type Work struct {
	Regulation

	Token    string   // of the run that has it now; empty when none ever had
	Complete bool     // the ids of all its users are there
	Users    []string // their ids, in their order; not to be changed
	parts    []int    // of the records that hold them
}

// Work returns what is left to do of one regulation; false when that is nothing,
// or nothing is known of it.
func (g *Register) Work(id string) (Work, bool) {
	e := g.look(id)
	if !e.unfinished() {
		return Work{}, false
	}
	w := Work{Regulation: e.Regulation, Token: e.token, parts: slices.Sorted(maps.Keys(e.parts))}
	for _, n := range w.parts {
		w.Users = append(w.Users, e.parts[n]...)
	}
	w.Complete = len(w.Users) == w.Subjects
	return w, true
}

// token returns that of the run that has a regulation now.
func (g *Register) token(id string) string { return g.look(id).token }

// succeeded tells whether a run had a regulation and another one has it now.
func (g *Register) succeeded(id, token string) bool { return g.look(id).former[token] }

// Progress tells how far an unfinished regulation has come: as long as it stays
// the same nobody is getting on with it.
type Progress struct {
	ID       string
	Status   Status
	Notified int
	Token    string
}

// Unfinished returns all unfinished regulations, the oldest first.
func (g *Register) Unfinished() []Progress {
	var left []entry
	for _, id := range g.ids() {
		if e := g.look(id); e.unfinished() {
			left = append(left, e)
		}
	}
	slices.SortFunc(left, func(a, b entry) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	all := make([]Progress, len(left))
	for i, e := range left {
		all[i] = Progress{e.ID, e.Status, e.Notified, e.token}
	}
	return all
}

func (e *entry) unfinished() bool { return e.stored && !e.Status.Final() }

// Changed returns a channel that is closed by the next change of a regulation.
// Take it before looking.
func (g *Register) Changed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.changed
}
