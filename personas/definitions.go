package personas

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/definition"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/emit"
	"github.com/anabranch/anabranch/personas/internal/engine"
)

// catalogue is a workspace's definitions, compiled.
type catalogue struct {
	*engine.Catalogue

	of    *engine.Definitions
	print string
	tell  map[computation]emit.Telling
	seen  time.Time // when this process heard of them
}

// computation is what a definition computes.
type computation struct {
	class engine.Class
	key   string
}

// compile compiles definitions. Counts is where the engine counts; nil: nowhere.
func compile(d *engine.Definitions, counts *engine.Counts) (*catalogue, error) {
	counted := *d
	counted.Counts = counts
	compiled, err := engine.Compile(counted)
	if err != nil {
		return nil, fmt.Errorf("compile the definitions of the workspace: %w", err)
	}
	c := &catalogue{Catalogue: compiled, of: d, print: printOf(d), tell: make(map[computation]emit.Telling)}
	for i := range d.Audiences {
		a := &d.Audiences[i]
		c.tell[computation{engine.ClassAudience, a.ID}] = emit.Telling{By: a.Send, Only: a.Destinations}
	}
	for i := range d.Traits {
		t := &d.Traits[i]
		c.tell[computation{engine.ClassComputedTrait, t.ID}] = emit.Telling{By: t.Send, Only: t.Destinations}
	}
	return c, nil
}

// printOf names definitions: they are the same where id, version and state are.
func printOf(d *engine.Definitions) string {
	lines := make([]string, 0, len(d.Audiences)+len(d.Traits))
	for i := range d.Audiences {
		a := &d.Audiences[i]
		lines = append(lines, fmt.Sprintf("audience %s %d %t %t%s", a.ID, a.Version, a.Enabled, a.Deleted, heldText(a.Held)))
	}
	for i := range d.Traits {
		t := &d.Traits[i]
		lines = append(lines, fmt.Sprintf("trait %s %d %t %t%s", t.ID, t.Version, t.Enabled, t.Deleted, heldText(t.Held)))
	}
	slices.Sort(lines)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", lines))
	return hex.EncodeToString(sum[:8])
}

func heldText(held bool) string {
	if held {
		return " held"
	}
	return ""
}

// inForce are the versions of the definitions of which something is told, by id.
func (c *catalogue) inForce() map[string]int {
	versions := make(map[string]int, len(c.tell))
	for i := range c.of.Audiences {
		if a := &c.of.Audiences[i]; a.Enabled && !a.Deleted && !a.Held {
			versions[a.ID] = a.Version
		}
	}
	for i := range c.of.Traits {
		if t := &c.of.Traits[i]; t.Enabled && !t.Deleted && !t.Held {
			versions[t.ID] = t.Version
		}
	}
	return versions
}

// changed are the ids of the definitions that are not in force in a partition as they are
// now, or refer to one that is not, ascending. Of what was deleted nothing is told as time
// passes, and in a partition that was never processed there is nothing from before.
func (c *catalogue) changed(m *changelog.Meta) []string {
	if m.Catalogue == c.print || m.Catalogue == "" {
		return nil
	}
	differs := make(map[string]bool)
	for id, version := range c.inForce() {
		if was, ok := m.InForce[id]; !ok || was != version {
			differs[id] = true
		}
	}
	for n := 0; n < len(differs); { // one refers to another, and so on
		n = len(differs)
		for i := range c.of.Audiences {
			a := &c.of.Audiences[i]
			a.When.Leaves(func(_ string, l *definition.Leaf) {
				if a.Enabled && !a.Deleted && (differs[l.Audience] || differs[l.Computed]) {
					differs[a.ID] = true
				}
			})
		}
	}
	return slices.Sorted(maps.Keys(differs))
}

// inForce returns what may be in force in a partition: all but what needs leaves of which
// records may still have state of an earlier time. What has changed is held until everybody
// has been told what was due before.
func (p *processor) inForce(part *partition) (*catalogue, error) {
	var stale []engine.LeafID
	for _, id := range part.Residue {
		if slices.Contains(p.c.Leaves(), id) {
			stale = append(stale, id)
		}
	}
	held := p.c.changed(&part.Meta)
	if len(held) > 0 && part.Time >= p.c.seen.UnixMilli() && !p.due(part.num, part.Clock()) {
		held = nil
	}
	if len(stale)+len(held) == 0 {
		return p.c, nil
	}
	slices.Sort(stale)
	key := fmt.Sprint(stale, held)
	if c := p.lent[key]; c != nil {
		return c, nil
	}
	c, err := compile(p.c.lent(stale, held), &p.metrics.counted)
	if err == nil {
		p.lent[key] = c
	}
	return c, err
}

// lent returns the definitions that need none of some leaves, of which some are held.
func (c *catalogue) lent(leaves []engine.LeafID, held []string) *engine.Definitions {
	d := c.without(leaves)
	for i := range d.Audiences {
		a := &d.Audiences[i]
		a.Held = slices.Contains(held, a.ID)
	}
	for i := range d.Traits {
		t := &d.Traits[i]
		t.Held = slices.Contains(held, t.ID)
	}
	return d
}

// without returns the definitions that need none of some leaves.
func (c *catalogue) without(leaves []engine.LeafID) *engine.Definitions {
	needs := func(key string) bool {
		return slices.ContainsFunc(c.Needs(key), func(id engine.LeafID) bool { return slices.Contains(leaves, id) })
	}
	return &engine.Definitions{
		Audiences: slices.DeleteFunc(slices.Clone(c.of.Audiences), func(a engine.Audience) bool { return needs(a.ID) }),
		Traits:    slices.DeleteFunc(slices.Clone(c.of.Traits), func(t engine.Trait) bool { return needs(t.ID) }),
	}
}

// adopt puts definitions in force in a partition: what is new is filled from raw-events up
// to here, and every user is looked at. It changes nothing where they are in force.
func adopt(m *changelog.Meta, c *catalogue, now time.Time) {
	if m.Catalogue == c.print {
		return
	}
	wanted := c.Leaves()
	unwanted := func(id engine.LeafID) bool { return !slices.Contains(wanted, id) }
	for _, id := range m.Leaves {
		if unwanted(id) {
			m.Residue = append(m.Residue, id)
		}
	}
	m.Fills = slices.Clone(m.Fills)
	for i := range m.Fills {
		m.Fills[i].Leaves = slices.DeleteFunc(slices.Clone(m.Fills[i].Leaves), unwanted)
	}
	m.Fills = slices.DeleteFunc(m.Fills, func(f changelog.Fill) bool { return len(f.Leaves) == 0 })
	m.Fills = append(m.Fills, fills(c, m, wanted, now)...)
	m.Catalogue, m.Leaves, m.InForce = c.print, wanted, c.inForce()
	m.Sweep = new(changelog.Sweep)
}

// fills are those of the leaves that a partition has not had. Those of all the log are
// filled together, whatever their windows, and so are leaves that look as far back.
func fills(c *catalogue, m *changelog.Meta, wanted []engine.LeafID, now time.Time) []changelog.Fill {
	var all []changelog.Fill
	var leaves []engine.Leaf
	earliest := int64(math.MaxInt64) // that matters to a leaf of all the log
	for _, id := range wanted {
		leaf, ok := c.Leaf(id)
		if !ok || slices.Contains(m.Leaves, id) || !leaf.History.Full && leaf.History.For == 0 || m.Raw == 0 {
			continue
		}
		if leaves = append(leaves, leaf); leaf.History.Full {
			earliest = min(earliest, sinceOf(&leaf, now))
		}
	}
	for i := range leaves {
		since := sinceOf(&leaves[i], now)
		if leaves[i].History.Full {
			since = earliest
		}
		at := slices.IndexFunc(all, func(f changelog.Fill) bool { return f.Since == since })
		if at < 0 {
			at = len(all)
			all = append(all, changelog.Fill{Since: since, From: -1, Next: -1, Cut: m.Raw})
		}
		all[at].Leaves = append(all[at].Leaves, leaves[i].ID)
	}
	return all
}

// sinceOf is from when on calls matter to a leaf, in Unix milliseconds; 0: all do. An event
// is never later than its receipt.
func sinceOf(leaf *engine.Leaf, now time.Time) int64 {
	back := leaf.History.For
	if leaf.Retention > 0 && (leaf.History.Full || leaf.Retention < back) {
		back = leaf.Retention
	}
	if back == 0 || now.IsZero() {
		return 0
	}
	return max(cmp.Or(now.Add(-back).UnixMilli(), 1), 1)
}
