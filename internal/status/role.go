package status

import (
	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who looks at how the stages do.
func Role(stages pipeline.Stages) acl.Role {
	role := acl.Role{Name: "status", Does: "shows what runs and how far it is; `doctor` too"}
	see := func(t pipeline.Topic, why string) {
		role.Rules = append(role.Rules, t.Rules(why, acl.Read, acl.DescribeConfigs)...)
	}
	for _, t := range stages.Consumed() {
		switch t.Name {
		case schemas.ArchivePrefix: // among those of all destinations
			continue
		case schemas.ReplayPrefix:
			role.Rules = append(role.Rules, t.Rules("sees what of replays waits to be delivered", acl.Read)...)
			continue
		}
		see(t, "sees what waits to be "+t.Consumed.Done)
	}
	see(pipeline.Topic{Name: schemas.TopicWorkspace}, "knows destinations")
	see(pipeline.Topic{Name: schemas.TopicDeadLetters}, "counts dead letters")
	see(pipeline.Topic{Name: schemas.TopicRedriven}, "counts those not sent again")
	see(pipeline.Topic{Name: schemas.TopicReplays}, "knows how far replays are")
	role.Rules = append(role.Rules, acl.Topic(schemas.TopicImports, "shows how far imports are", acl.Read)...)
	see(pipeline.Topic{Name: schemas.TopicJournal}, "sums up the last hour")
	role.Rules = append(role.Rules, acl.Groups(schemas.OwnPrefix, "sees members and their offsets"))
	return role
}
