package ask

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who asks.
func Role() acl.Role {
	return acl.Role{Name: "personas list", Does: "answers what is asked of personas; the other commands below `personas` too", Rules: slices.Concat(
		acl.Topic(schemas.TopicPersonasChangelog, "reads the state of users", acl.Read),
		acl.Topic(schemas.TopicRawEvents, "reads calls and what was told", acl.Read),
		acl.Topic(schemas.TopicWorkspace, "knows definitions", acl.Read),
	)}
}

// ResyncRole is what somebody must be allowed who has a destination told once more.
func ResyncRole() acl.Role {
	return acl.Role{Name: "personas resync", Does: "has the stage tell a destination once more", Rules: slices.Concat(
		acl.Topic(schemas.TopicPersonasChangelog, "reads who is to be told, and how far it is", acl.Read),
		acl.Topic(schemas.TopicPersonasInternal, "asks the stage for it", acl.Write),
		acl.Topic(schemas.TopicWorkspace, "knows definitions and destinations", acl.Read),
	)}
}
