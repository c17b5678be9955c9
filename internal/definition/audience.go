package definition

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/anabranch/anabranch/internal/document"
	"github.com/anabranch/anabranch/schemas"
)

const (
	wantAudience = "an audience: a mapping with an id or a name, and a condition under when"
	wantTrait    = "a computed trait: a mapping with an id or a name, and the keys take and did"

	// maxBytes keeps a definition's record well under the megabyte that brokers take by
	// default.
	maxBytes = 256 << 10
)

// ReadAudience reads an audience at a place of a file, which path leads to. It returns
// what is wrong too; then the audience is what could be read of it. Whether other
// definitions, sources and destinations are as it needs them is [Check]'s to say.
func ReadAudience(node *yaml.Node, path string) (Audience, document.Problems) {
	r := new(reader)
	a := r.audience(place{r, node, path})
	return a, r.found
}

// ReadTrait is [ReadAudience] of a computed trait.
func ReadTrait(node *yaml.Node, path string) (Trait, document.Problems) {
	r := new(reader)
	t := r.trait(place{r, node, path})
	return t, r.found
}

func (r *reader) audience(p place) Audience {
	a := Audience{Common: initial(), OnDelete: OnDeleteKeep}
	there := readMembers(p, wantAudience, audienceMembers(), &a)
	if there == nil {
		return a
	}
	a.complete(p, there)
	if leaves := a.When.leaves(); leaves > MaxLeaves {
		p.report(fmt.Sprintf("%d leaves", leaves), fmt.Sprintf("at most %d: conditions that are neither all, any nor not", MaxLeaves))
	}
	p.bound(len(r.found) == 0, a.JSON)
	return a
}

func (r *reader) trait(p place) Trait {
	t := Trait{Common: initial()}
	there := readMembers(p, wantTrait, traitMembers(), &t)
	if there == nil {
		return t
	}
	t.complete(p, there)
	t.Event.check(there)
	t.Take.checkOf(p, there)
	if at, ok := there["at_least"]; ok && t.Take != MostFrequent {
		at.report("beside take: "+string(t.Take), "take: most_frequent, which alone has at_least")
	} else if !ok && t.Take == MostFrequent {
		t.AtLeast = MinOccurrence
	}
	if at, ok := there["max_values"]; ok && t.Take != Unique && t.Take != UniqueCount {
		at.report("beside take: "+string(t.Take), "take: unique or unique_count, which alone have max_values")
	} else if !ok && t.Take == Unique {
		t.MaxValues = MaxValues
	}
	p.bound(len(r.found) == 0, t.JSON)
	return t
}

// initial is what a definition says that says nothing.
func initial() Common {
	return Common{Enabled: true, History: History{Full: true}, Send: SendIdentify}
}

// complete makes the id of the name, or the name of the id.
func (c *Common) complete(p place, there map[string]place) {
	at, named := there["name"]
	_, has := there["id"]
	switch {
	case !has && !named:
		p.missing("id", wantID)
		return
	case !has && c.Name != "":
		if c.ID = SnakeCase(c.Name); !ValidID(c.ID) {
			at.expected("a name whose snake_case is an id of 1 to 128 bytes, or an id beside it")
			c.ID = ""
		}
	case has && !named:
		c.Name = c.ID
	}
	if c.ID == ReservedID {
		if has {
			at = there["id"]
		}
		at.expected("another id: " + ReservedID + " is the source that tells of all audiences and computed traits")
		c.ID = ""
	}
}

// bound holds a definition to the size of a record.
func (p place) bound(readable bool, written func() []byte) {
	if !readable {
		return
	}
	if n := len(written()); n > maxBytes {
		p.report(fmt.Sprintf("%d bytes", n), fmt.Sprintf("a definition of at most %d bytes, as it is stored", maxBytes))
	}
}

func audienceMembers() []member[Audience] {
	table := commonMembers(func(a *Audience) *Common { return &a.Common })
	return slices.Insert(table, 3,
		member[Audience]{"when", refNotation("condition", wantOneCondition()), required, "who is in it", func(p place, to *Audience) { to.When = p.cond(1) }},
		member[Audience]{"stay", durationNotation(""), "0s", "the least time between two changes that are told of one user; what holds at its end is told then", func(p place, to *Audience) { to.AtMostEvery = p.pause() }},
		member[Audience]{"on_delete", wordNotation(OnDeleteKeep, OnDeleteExit), string(OnDeleteKeep), "what its members hear when it is deleted: nothing, or that they have left", func(p place, to *Audience) { to.OnDelete = oneOf(p, []OnDelete{OnDeleteKeep, OnDeleteExit}) }},
	)
}

func traitMembers() []member[Trait] {
	table := commonMembers(func(t *Trait) *Common { return &t.Common })
	of := []member[Trait]{
		{"take", wordNotation(aggregates()...), required, "what is made of the events", func(p place, to *Trait) { to.Take = oneOf(p, aggregates()) }},
		{"of", pathNotation(), "(none)", "the value of each event that goes into it; every aggregate but count needs it", func(p place, to *Trait) { to.Of = p.valuePath() }},
	}
	of = append(of, eventMembers(func(t *Trait) *Event { return &t.Event })...)
	return slices.Insert(table, 3, append(
		of,
		member[Trait]{"at_least", wholeNotation(maxOccurrence), "2", "of most_frequent: how often the value has to have come", func(p place, to *Trait) { to.AtLeast = p.whole(maxOccurrence) }},
		member[Trait]{"max_values", wholeNotation(MaxMaxValues), "100", "of unique and unique_count: how many values are kept, the newest", func(p place, to *Trait) { to.MaxValues = p.whole(MaxMaxValues) }},
		member[Trait]{"every", durationNotation(""), "0s", "the least time between two values that are told of one user; the last is told at its end", func(p place, to *Trait) { to.AtMostEvery = p.pause() }},
	)...)
}

// commonMembers are those that audiences and computed traits have alike.
func commonMembers[T any](common func(*T) *Common) []member[T] {
	return []member[T]{
		{"id", idNotation(), "the name, in snake_case", "the user property that is told; permanent, and never used again, even after its deletion", func(p place, to *T) { common(to).ID = p.id() }},
		{"name", nameNotation(), "the id", "what people call it", func(p place, to *T) { common(to).Name = p.name() }},
		{"enabled", boolNotation(), "true", "whether it is kept and told; enabled again it is brought up to date, and the differences are told", func(p place, to *T) { common(to).Enabled = p.boolean() }},
		{"anonymous", boolNotation(), "false", "whether users without a user id count too", func(p place, to *T) { common(to).Anonymous = p.boolean() }},
		{"history", historyNotation(), "full", "how far back it looks when it is created: all of the log, none of it, or so long", func(p place, to *T) { common(to).History = p.history() }},
		{"send", wordNotation(SendIdentify, SendTrack, SendBoth), string(SendIdentify), "the calls by which a change is told", func(p place, to *T) { common(to).Send = oneOf(p, []Send{SendIdentify, SendTrack, SendBoth}) }},
		{"destinations", idsNotation("destinations", schemas.MaxOnly), "all", "the only ones that are told, of those whose sources include personas", func(p place, to *T) { common(to).Destinations = p.ids("destinations", schemas.MaxOnly) }},
	}
}

func (p place) id() string {
	return parsed(p, wantID, func(text string) (string, bool) { return text, ValidID(text) })
}

// pause is a duration that may be none.
func (p place) pause() time.Duration { return parsed(p, wantDuration, ParseDuration) }

func (p place) history() History {
	return parsed(p, historyNotation().want, func(text string) (History, bool) {
		switch text {
		case "full":
			return History{Full: true}, true
		case "none":
			return History{}, true
		}
		d, ok := ParseDuration(text)
		return History{For: d}, ok && d > 0
	})
}
