package replay

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who asks for replays.
func Role() acl.Role {
	return acl.Role{Name: "replay", Does: "plans and starts replays", Rules: slices.Concat(
		acl.Topic(schemas.TopicReplays, "says what is wanted of replays, and sees how far they are", acl.Read, acl.Write, acl.Create),
		acl.Topic(schemas.TopicRawEvents, "plans what is sent", acl.Read),
		acl.Topic(schemas.TopicJournal, "knows what was sent then", acl.Read),
		acl.Topic(schemas.TopicWorkspace, "knows destinations", acl.Read),
		acl.Topic(schemas.TopicRegulations, "knows suppressed users", acl.Read),
	)}
}
