package replay

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// PlanRole is what somebody must be allowed who looks at what a replay would do.
func PlanRole() acl.Role {
	keeps := acl.Topic(schemas.TopicReplays, "keeps the plan, to be started by its id", acl.Read, acl.Write)
	for i := range keeps {
		keeps[i].Without = "the plan is printed, and not kept"
	}
	keeps = append(keeps, acl.Topic(schemas.TopicReplays, "keeps the plan, to be started by its id", acl.Create)...)
	return acl.Role{Name: "replay plan", Does: "says what a replay would do", Rules: slices.Concat(
		acl.Topic(schemas.TopicRawEvents, "reads what would be sent", acl.Read),
		acl.Topic(schemas.TopicJournal, "knows what was sent then", acl.Read),
		acl.Topic(schemas.TopicWorkspace, "knows destinations", acl.Read),
		acl.Topic(schemas.TopicRegulations, "knows suppressed users", acl.Read),
		keeps,
	)}
}

// Role is what somebody must be allowed who starts replays, and pauses or ends them.
func Role() acl.Role {
	return acl.Role{Name: "replay start", Does: "starts replays, and steers them", Rules: slices.Concat(
		acl.Topic(schemas.TopicReplays, "says what is wanted of replays, and sees how far they are", acl.Read, acl.Write, acl.Create),
		acl.Topic(schemas.TopicRawEvents, "finds the offsets of a time", acl.Describe),
		acl.Topic(schemas.TopicJournal, "sees whether it reaches back, for --only missing", acl.Describe),
		acl.Topic(schemas.TopicWorkspace, "knows destinations", acl.Read),
		acl.Topic(schemas.TopicRegulations, "knows suppressed users", acl.Read),
	)}
}
