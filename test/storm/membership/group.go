package membership

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/storm/child"
)

// Group is a consumer group of the classic protocol.
type Group struct {
	Client *kgo.Client // no member itself
	Name   string

	generation int32 // the last one seen
}

// Member is one of its members.
type Member struct {
	ID, Instance string
	Partitions   map[string][]int32
}

// stable is the state of a group in which no join is under way.
const stable = "Stable"

// Members returns the members of the group; none while it is being formed anew.
func (g *Group) Members(ctx context.Context) ([]Member, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{g.Name}
	resp, err := req.RequestWith(ctx, g.Client)
	if err != nil {
		return nil, fmt.Errorf("describe group %s: %w", g.Name, err)
	}
	var all []Member
	for _, described := range resp.Groups {
		if err := kerr.ErrorForCode(described.ErrorCode); err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
			return nil, fmt.Errorf("describe group %s: %w", g.Name, err)
		}
		if described.State != stable {
			return nil, nil
		}
		for _, m := range described.Members {
			member := Member{ID: m.MemberID, Partitions: make(map[string][]int32)}
			if m.InstanceID != nil {
				member.Instance = *m.InstanceID
			}
			var assigned kmsg.ConsumerMemberAssignment
			if err := assigned.ReadFrom(m.MemberAssignment); err != nil {
				return nil, fmt.Errorf("describe group %s: assignment of %s: %w", g.Name, m.MemberID, err)
			}
			for _, topic := range assigned.Topics {
				member.Partitions[topic.Topic] = topic.Partitions
			}
			all = append(all, member)
		}
	}
	return all, nil
}

// Of returns the partitions of a topic that a static member has, in order; none of one
// that is not there.
func Of(all []Member, instance, topic string) []int32 {
	for _, m := range all {
		if m.Instance == instance {
			return slices.Sorted(slices.Values(m.Partitions[topic]))
		}
	}
	return nil
}

// Settled waits until the group is formed, has so many members, and they have that
// many partitions of a topic together.
func (g *Group) Settled(ctx context.Context, members int, topic string, partitions int) error {
	return child.Until(ctx, time.Minute, fmt.Sprintf("%d members of %s to share %s", members, g.Name, topic), func() bool {
		all, err := g.Members(ctx)
		shared := 0
		for _, n := range shares(all, topic) {
			shared += n
		}
		return err == nil && len(all) == members && shared == partitions
	})
}

// Shares returns how many partitions of a topic each member has, the most first.
// Members are given about as many partitions of all topics together, which says
// little about any single one.
func (g *Group) Shares(ctx context.Context, topic string) ([]int, error) {
	all, err := g.Members(ctx)
	return shares(all, topic), err
}

func shares(all []Member, topic string) []int {
	counts := make([]int, len(all))
	for i, m := range all {
		counts[i] = len(m.Partitions[topic])
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	return counts
}

// maxGeneration bounds the search for the present one.
const maxGeneration = 10_000

// Generation counts how often the group was formed anew. Brokers tell it to members
// alone, but they tell a member of an older one apart from one of the present one:
// so a heartbeat in the name of a member finds it out.
func (g *Group) Generation(ctx context.Context) (int32, error) {
	all, err := g.Members(ctx)
	if err != nil {
		return 0, err
	}
	if len(all) == 0 {
		return 0, fmt.Errorf("find the generation of %s: it has no members, or is being formed", g.Name)
	}
	for g.generation = max(g.generation, 1); g.generation < maxGeneration; g.generation++ {
		switch err := g.heartbeat(ctx, all[0]); {
		case err == nil, errors.Is(err, kerr.RebalanceInProgress):
			return g.generation, nil
		case !errors.Is(err, kerr.IllegalGeneration):
			return 0, fmt.Errorf("find the generation of %s: %w", g.Name, err)
		}
	}
	return 0, fmt.Errorf("find the generation of %s: none below %d", g.Name, maxGeneration)
}

func (g *Group) heartbeat(ctx context.Context, m Member) error {
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = g.Name, m.ID, g.generation
	if m.Instance != "" {
		req.InstanceID = &m.Instance
	}
	resp, err := req.RequestWith(ctx, g.Client)
	if err != nil {
		return err
	}
	return kerr.ErrorForCode(resp.ErrorCode)
}
