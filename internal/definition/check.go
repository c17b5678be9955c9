package definition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/anabranch/anabranch/internal/document"
)

// World is what definitions refer to beside each other.
type World struct {
	Sources      []string        // ids
	Destinations map[string]bool // by id: whether they are connected to the source [ReservedID]
}

// Check reports what is wrong with definitions beside one another and in their world:
// ids that clash, references that lead nowhere or in a circle. path leads to where it
// stands, such as "audiences[3].when.all[1].audience". What could not be read is passed
// over, since that was reported.
func Check(audiences []Audience, traits []Trait, world World, report func(path, value, want string)) {
	c := checker{world: world, report: report, audiences: make(map[string]*Common), traits: make(map[string]*Common), first: make(map[string]string)}
	for i := range audiences {
		c.enter(c.audiences, &audiences[i].Common, document.ElementPath("audiences", i))
	}
	for i := range traits {
		c.enter(c.traits, &traits[i].Common, document.ElementPath("traits", i))
	}
	for i := range traits {
		t, path := &traits[i], document.ElementPath("traits", i)
		c.common(&t.Common, path)
		c.event(&t.Event, path)
	}
	for i := range audiences {
		a, path := &audiences[i], document.ElementPath("audiences", i)
		c.common(&a.Common, path)
		a.When.Leaves(func(at string, l *Leaf) { c.leaf(a, l, below(path+".when", at)) })
	}
	walk := order{audiences: audiences, cycle: func(from int, at, names string) {
		c.report(below(document.ElementPath("audiences", from)+".when", at)+".audience", names, "audiences that do not lead back to themselves")
	}}
	walk.all()
}

// checker holds definitions against each other.
type checker struct {
	world             World
	report            func(path, value, want string)
	audiences, traits map[string]*Common
	first             map[string]string // the path of the definition that has an id
}

func (c *checker) enter(to map[string]*Common, d *Common, path string) {
	if d.ID == "" {
		return
	}
	if first, taken := c.first[d.ID]; taken {
		c.report(path+".id", strconv.Quote(d.ID), "an id of its own among audiences and traits; "+first+" has the same")
		return
	}
	c.first[d.ID], to[d.ID] = path, d
}

func (c *checker) common(d *Common, path string) {
	for _, id := range d.Destinations {
		connected, known := c.world.Destinations[id]
		switch {
		case !known:
			c.unknown(path+".destinations", id, "destinations", sorted(c.world.Destinations))
		case !connected:
			c.report(path+".destinations", strconv.Quote(id), "a destination that has "+ReservedID+" among its sources")
		}
	}
}

func (c *checker) event(e *Event, path string) {
	for key, ids := range map[string][]string{"sources": e.Sources, "except_sources": e.ExceptSources} {
		for _, id := range ids {
			switch {
			case id == ReservedID:
				c.report(path+"."+key, strconv.Quote(id), "another source: what is told of audiences and traits never counts")
			case !slices.Contains(c.world.Sources, id):
				c.unknown(path+"."+key, id, "sources", c.world.Sources)
			}
		}
	}
}

func (c *checker) leaf(of *Audience, l *Leaf, path string) {
	switch {
	case l.Did != nil:
		c.event(&l.Did.Event, path)
	case l.Audience != "":
		c.reference(&of.Common, c.audiences, l.Audience, path+".audience", "audiences")
	case l.Computed != "":
		c.reference(&of.Common, c.traits, l.Computed, path+".computed", "traits")
	}
}

func (c *checker) reference(from *Common, among map[string]*Common, id, path, what string) {
	d, known := among[id]
	switch {
	case !known:
		c.unknown(path, id, what, sorted(among))
	case from.Enabled && !d.Enabled:
		c.report(path, strconv.Quote(id), "one that is enabled, or this definition disabled too")
	}
}

// unknown reports an id that nothing has, with the nearest that something has.
func (c *checker) unknown(path, id, what string, known []string) {
	want := "the id of one of the " + what
	if near := document.Nearest(id, known); near != "" {
		want = fmt.Sprintf("%s, such as %s", want, near)
	}
	c.report(path, strconv.Quote(id), want)
}

func sorted[V any](m map[string]V) []string {
	ids := make([]string, 0, len(m))
	for id := range m {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, cmp.Compare)
	return ids
}
