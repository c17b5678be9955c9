package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/anabranch/anabranch/personas"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// mostWrong is how many differences a check lists.
const mostWrong = 1000

// Verdict is what a check found.
type Verdict struct {
	Users   int64     `json:"users"` // that were compared
	Checked []string  `json:"checked"`
	Skipped []Skipped `json:"skipped"`
	// Differences are those that were found, of which the first 1,000 are listed.
	Differences int64    `json:"differences"`
	Wrong       []Wrong  `json:"wrong"`
	AsOf        []Extent `json:"as_of"`
}

// Skipped is a definition that can't be checked.
type Skipped struct {
	Key    string `json:"key"`
	Reason string `json:"reason"`
}

// Wrong is a user who was told something else than what is true by raw-events.
type Wrong struct {
	UserID string          `json:"user_id"`
	Key    string          `json:"key"`
	Kind   Kind            `json:"kind"`
	Told   json.RawMessage `json:"told"` // null: nothing; of a computed trait, if it is not known
	True   json.RawMessage `json:"true"` // null: not known, since what was told differs from what is kept of it
	Detail string          `json:"detail"`
}

// Check computes all users again from raw-events, and compares what follows with what the
// stage has told them: with what it keeps of that, and with the calls on raw-events. It
// reads all of raw-events, and fails while the stage is not done with all definitions. It
// needs memory and disk as [Changes] does, and disk for what was told.
func Check(ctx context.Context, log *Log) (*Verdict, error) {
	v := &Verdict{Checked: []string{}, Skipped: []Skipped{}, Wrong: []Wrong{}}
	begins, err := log.begins(ctx)
	if err != nil {
		return nil, err
	}
	c, err := log.Workspace.compile()
	if err != nil {
		return nil, err
	}
	for _, d := range log.Workspace.definitions() {
		if why := unchecked(c, &d, begins); why != "" {
			v.Skipped = append(v.Skipped, Skipped{d.ID, why})
		} else {
			v.Checked = append(v.Checked, d.ID)
		}
	}
	if c, err = engine.Compile(log.Workspace.alone(func(key string) bool { return slices.Contains(v.Checked, key) })); err != nil {
		return nil, err
	}
	r := &replay{log: log, c: c, hears: true}
	r.refold = func(_ *changelog.Meta, id engine.LeafID) bool { return id != engine.LeafSeen }
	r.look = func(u *computed) error {
		v.take(u)
		return nil
	}
	if r.inForce, err = personas.Print(&log.Workspace.defined); err != nil {
		return nil, err
	}
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	v.AsOf = r.extents()
	slices.SortFunc(v.Wrong, func(a, b Wrong) int { return cmp.Or(cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.Key, b.Key)) })
	v.Wrong = v.Wrong[:min(len(v.Wrong), mostWrong)]
	return v, nil
}

// unchecked says why a definition can't be checked; empty: it can. Begins is when the
// first call was taken in that raw-events still has; zero: it has them all.
func unchecked(c *engine.Catalogue, d *Definition, begins time.Time) string {
	if !d.Enabled {
		return "it is disabled"
	}
	for _, id := range c.Needs(d.ID) {
		leaf, _ := c.Leaf(id)
		switch {
		case id == engine.LeafSeen:
		case leaf.Key != "":
			return "it looks back no further than to when it was applied, which raw-events does not tell"
		case !begins.IsZero() && (leaf.Retention == 0 || time.Now().Add(-leaf.Retention).Before(begins)):
			return "it looks back further than raw-events goes"
		}
	}
	return ""
}

// take compares what a user was told with what is true.
func (v *Verdict) take(u *computed) {
	if !u.unknown {
		v.Users++
	}
	for _, t := range u.told {
		v.hear(u.id, u.before, &t)
	}
	for i := range u.changes {
		change := &u.changes[i]
		if change.Class == engine.ClassComputedTrait && alike(u.told[change.Key].Value, change.Value) {
			continue
		}
		w := Wrong{UserID: u.id, Key: change.Key, Kind: change.Class, Told: json.RawMessage("null"), True: change.Value, Detail: "raw-events says otherwise"}
		if change.Class == engine.ClassAudience {
			w.Told, w.True = truth(!change.Member), truth(change.Member)
		}
		v.add(&w)
	}
}

// hear compares what a user was told last on raw-events with what the stage keeps of it.
func (v *Verdict) hear(user string, p *engine.Profile, t *Told) {
	if !slices.Contains(v.Checked, t.Key) {
		return
	}
	w := Wrong{UserID: user, Key: t.Key, Kind: t.Kind, Told: t.Value, True: json.RawMessage("null"), Detail: "what was told last differs from what the stage keeps of it"}
	if p.Deletion.Request != "" && t.offset <= p.Deletion.Offset {
		return // forgotten
	}
	kept, ok := p.Told(t.Kind, t.Key)
	switch {
	case ok && kept.At.After(t.At): // something was told since
	case !ok, t.Kind == engine.ClassAudience && string(t.Value) != string(truth(kept.Member)),
		t.Kind == engine.ClassComputedTrait && !p.ToldValue(t.Key, t.Value):
		v.add(&w)
	}
}

func (v *Verdict) add(w *Wrong) {
	v.Differences++
	if len(v.Wrong) < 2*mostWrong {
		v.Wrong = append(v.Wrong, *w)
	}
}

// alike reports whether two numbers differ in their last digits at most: those of a sum of
// fractions depend on the order in which they were added up, which after a merge is another.
func alike(a, b json.RawMessage) bool {
	const digits = 1e-12
	var x, y float64
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || string(a) == "null" || string(b) == "null" {
		return false
	}
	return math.Abs(x-y) <= digits*max(math.Abs(x), math.Abs(y))
}

func truth(b bool) json.RawMessage {
	if b {
		return json.RawMessage("true")
	}
	return json.RawMessage("false")
}
