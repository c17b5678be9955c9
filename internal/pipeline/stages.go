package pipeline

import (
	"net/netip"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
)

// List is the list of stages, in the order in which an event passes through them, each
// by the function that declares it.
type List []func() *Stage

// Make returns the stages of the list, each with settings of its own, which have not
// been read.
func (l List) Make() Stages {
	all := make(Stages, len(l))
	for i, declare := range l {
		all[i] = declare()
	}
	return all
}

// Stages are stages in the order of their list.
type Stages []*Stage

// Names are those of the stages.
func (s Stages) Names() []string {
	names := make([]string, len(s))
	for i, one := range s {
		names[i] = one.Name
	}
	return names
}

// Variables are what the names of their settings begin with.
func (s Stages) Variables() []string {
	prefixes := make([]string, len(s))
	for i, one := range s {
		prefixes[i] = one.Variables()
	}
	return prefixes
}

// WithoutJournal has the stages do without what is needed for a journal alone.
func (s Stages) WithoutJournal() {
	for _, one := range s {
		one.Topics = slices.DeleteFunc(one.Topics, func(t Topic) bool { return t.Journal })
	}
}

// Readers returns the groups that have to read a topic before anything of it may be
// deleted.
func (s Stages) Readers(topic string) []string {
	var groups []string
	for _, one := range s.Grouped() {
		if one.consumes(topic) {
			groups = append(groups, one.Group.Name)
		}
	}
	return groups
}

// Grouped returns those that read from the brokers as a group.
func (s Stages) Grouped() Stages {
	return slices.DeleteFunc(slices.Clone(s), func(one *Stage) bool { return one.Group.Name == "" })
}

// Topics returns what the stages work with, each name and prefix once.
func (s Stages) Topics() []Topic {
	return s.topics(func(Topic) bool { return true })
}

// Consumed returns what the groups of the stages read, each name and prefix once.
func (s Stages) Consumed() []Topic {
	return s.topics(func(t Topic) bool { return t.Consumed != (Verb{}) })
}

func (s Stages) topics(meant func(Topic) bool) (all []Topic) {
	for _, one := range s {
		for _, t := range one.Topics {
			if meant(t) && !slices.ContainsFunc(all, func(o Topic) bool { return o.Name == t.Name }) {
				all = append(all, t)
			}
		}
	}
	return all
}

// Fixed returns the names of topics that the stages work with whatever is set, and in
// whatever workspace. A principal may not be allowed to see others.
func (s Stages) Fixed() []string {
	var names []string
	for _, t := range s.Topics() {
		if !t.Prefixed() {
			names = append(names, t.Name)
		}
	}
	return names
}

// Needed returns the names of topics that the stages need by their settings, in
// whatever workspace.
func (s Stages) Needed() []string {
	names := s.Fixed()
	for _, one := range s {
		names = append(names, one.Known().Topics...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Permit is the guard of addresses that endpoints may have: what one stage that
// delivers permits is permitted.
func (s Stages) Permit(peers ...netip.AddrPort) func(netip.AddrPort) error {
	var guards []func(netip.AddrPort) error
	for _, one := range s {
		if permit := one.Known().Permit; permit != nil {
			guards = append(guards, permit(peers...))
		}
	}
	return func(addr netip.AddrPort) (refusal error) {
		for _, guard := range guards {
			if refusal = guard(addr); refusal == nil {
				return nil
			}
		}
		return refusal
	}
}

// Way says of the stages between raw-events and the endpoints how far they are.
type Way struct {
	Router, Sink, Archive string // consumer groups
	// Finished is [Group.Finished] of the sink.
	Finished func(committed int64, metadata string) func(*kgo.Record) bool
}

// Way returns who writes the topics of destinations, and who reads them.
func (s Stages) Way() (w Way) {
	for _, stage := range s {
		i := slices.IndexFunc(stage.Topics, func(t Topic) bool { return t.Name == schemas.DeliverPrefix })
		switch {
		case stage.Group.Name == "":
		case stage.Serves == workspace.TypeArchive:
			w.Archive = stage.Group.Name
		case i < 0:
		case stage.Topics[i].Write:
			w.Router = stage.Group.Name
		default:
			w.Sink, w.Finished = stage.Group.Name, stage.Group.Finished
		}
	}
	return w
}
