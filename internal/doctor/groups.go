package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/waiting"
)

const (
	// rebalancePatience is how long a group may be between two generations before it
	// is called stuck: members of both stages answer within a second unless they have
	// events in hand.
	rebalancePatience = 3 * time.Second
	rebalancePause    = 500 * time.Millisecond
	// recordLimit is the largest record that brokers take by default
	// (message.max.bytes). A group's members have to fit into one, compressed at best.
	recordLimit = 1_048_588
)

// groupFacts is what a stage's group looks like. Settled is false when it has been
// between two generations for as long as was looked.
type groupFacts struct {
	groups.Group

	stage   string
	settled bool
}

// lookAtGroups describes the groups of stages, and again while one is rebalancing.
func lookAtGroups(ctx context.Context, admin *topics.Admin, stages pipeline.Stages) ([]groupFacts, error) {
	names := make([]string, len(stages))
	for i, s := range stages {
		names[i] = s.Group.Name
	}
	patience, cancel := context.WithTimeout(ctx, rebalancePatience)
	defer cancel()
	for {
		found, err := groups.Describe(ctx, admin.Client, names...)
		if err != nil {
			return nil, err
		}
		settled := !slices.ContainsFunc(found, func(g groups.Group) bool { return !g.Settled() })
		if !settled && waiting.Sleep(patience, rebalancePause) {
			continue
		}
		facts := make([]groupFacts, len(found))
		for i := range found {
			facts[i] = groupFacts{Group: found[i], stage: stages[i].Name, settled: found[i].Settled()}
		}
		return facts, nil
	}
}

// judgeGroups judges whether somebody works, and can go on doing so.
func judgeGroups(groups []groupFacts) []Finding {
	f := &findings{check: CheckGroups}
	for i := range groups {
		g := &groups[i]
		switch {
		case !g.settled:
			f.problem(g.Name, fmt.Sprintf("%s: its %d members have not agreed on an assignment for %s", g.State, len(g.Members), rebalancePatience),
				"one of them keeps leaving and joining, or two processes share an INSTANCE_ID: look at the logs of "+g.stage)
		case len(g.Members) == 0:
			f.warn(g.Name, "nobody is in it: no "+g.stage+" runs", "start `anabranch "+g.stage+"`, or `anabranch run`")
		default:
			f.judgeMembers(g)
		}
		if g.MetadataBytes > recordLimit*3/4 {
			f.judgeMetadata(g)
		}
	}
	return f.all
}

func (f *findings) judgeMembers(g *groupFacts) {
	var idle []string
	for _, m := range g.Members {
		if len(m.Partitions) == 0 {
			idle = append(idle, cmp.Or(m.InstanceID, m.ID))
		}
	}
	if len(idle) > 0 {
		f.warn(g.Name, fmt.Sprintf("%d of %d members have no partitions: %s", len(idle), len(g.Members), strings.Join(idle, ", ")),
			"there are more processes than partitions to share; stop them, or keep them as spares")
		return
	}
	f.ok(g.Name, fmt.Sprintf("%s, members: %d", g.State, len(g.Members)))
}

func (f *findings) judgeMetadata(g *groupFacts) {
	judge, found := f.warn, "come near to"
	if g.MetadataBytes > recordLimit {
		judge, found = f.problem, "are more than"
	}
	judge(g.Name, fmt.Sprintf("the subscriptions and assignments of %d members are about %d bytes, which %s what the brokers take in one record (%d by default): the group could not agree on an assignment",
		len(g.Members), g.MetadataBytes, found, recordLimit),
		"run fewer and larger processes, or raise max.message.bytes of the topic __consumer_offsets")
}
