package groups

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Group is a consumer group as its coordinator describes it.
type Group struct {
	Name    string
	State   string // "Stable", "Empty", "PreparingRebalance", …; empty: there is no such group
	Members []Member
	// MetadataBytes is about what the coordinator keeps of the members: their
	// subscriptions and assignments, all in one record.
	MetadataBytes int
}

// Member is one member of a group.
type Member struct {
	ID         string
	InstanceID string // of a static member; empty: an ordinary one
	ClientID   string
	Host       string
	Partitions map[string][]int32 // by topic
}

// Settled reports whether the group is not between two generations.
func (g *Group) Settled() bool {
	return g.State == "" || g.State == "Stable" || g.State == "Empty" || g.State == "Dead"
}

// Describe describes groups, in the order in which they are named.
func Describe(ctx context.Context, cl *kgo.Client, names ...string) ([]Group, error) {
	if len(names) == 0 {
		return nil, nil // the library takes none for all
	}
	described, err := kadm.NewClient(cl).DescribeGroups(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("describe groups %s: %w", strings.Join(names, ", "), err)
	}
	groups := make([]Group, len(names))
	for i, name := range names {
		d := described[name]
		if d.Err != nil && !errors.Is(d.Err, kerr.GroupIDNotFound) {
			return nil, fmt.Errorf("describe group %s: %w", name, d.Err)
		}
		groups[i] = newGroup(name, d)
	}
	return groups, nil
}

func newGroup(name string, d kadm.DescribedGroup) Group {
	g := Group{Name: name, State: d.State}
	if d.Err != nil || g.State == "Dead" && len(d.Members) == 0 {
		g.State = "" // brokers tell in either way that they know none
	}
	for i := range d.Members {
		m := &d.Members[i]
		member := Member{
			ID: m.MemberID, ClientID: m.ClientID, Partitions: make(map[string][]int32),
			Host: strings.TrimPrefix(m.ClientHost, "/"), // as Java prints addresses
		}
		if m.InstanceID != nil {
			member.InstanceID = *m.InstanceID
		}
		if joined, ok := m.Join.AsConsumer(); ok {
			g.MetadataBytes += len(joined.AppendTo(nil))
		}
		if assigned, ok := m.Assigned.AsConsumer(); ok {
			g.MetadataBytes += len(assigned.AppendTo(nil))
			for _, topic := range assigned.Topics {
				member.Partitions[topic.Topic] = topic.Partitions
			}
		}
		g.Members = append(g.Members, member)
	}
	return g
}
