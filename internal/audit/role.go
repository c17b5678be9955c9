package audit

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who accounts for each accepted call.
func Role() acl.Role {
	return acl.Role{Name: "audit", Does: "accounts for each accepted call", Rules: slices.Concat(
		acl.Topic(schemas.TopicRawEvents, "counts accepted calls", acl.Read),
		acl.Topic(schemas.TopicJournal, "sees what became of them", acl.Read),
		acl.Topics(schemas.DeliverPrefix, "sees what waits to be delivered", acl.Read),
		acl.Topics(schemas.RetryPrefix, "sees what waits to be retried", acl.Read),
		acl.Topic(schemas.TopicDeadLetters, "sees what was given up", acl.Read),
		acl.Topic(schemas.TopicRedriven, "sees what was sent again", acl.Read),
		[]acl.Rule{acl.Groups(schemas.OwnPrefix, "sees how far stages are")},
	)}
}
