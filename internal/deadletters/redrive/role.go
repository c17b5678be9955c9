package redrive

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who sends dead letters again.
func Role() acl.Role {
	return acl.Role{Name: "dead-letters redrive", Does: "sends dead letters again", Rules: slices.Concat(
		acl.Topic(schemas.TopicDeadLetters, "reads dead letters", acl.Read),
		acl.Topic(schemas.TopicRedriven, "marks what was sent again", acl.Read, acl.Write, acl.Create),
		acl.Topic(schemas.TopicWorkspace, "knows destinations", acl.Read),
		acl.Topic(schemas.TopicRegulations, "knows suppressed users", acl.Read),
		acl.Topics(schemas.DeliverPrefix, "sends events again", acl.Write),
		acl.Topic(schemas.TopicRawEvents, "sends calls again that a tracking plan has blocked", acl.Write),
		[]acl.Rule{acl.Transactions(TransactionalID, "sends each once")},
	)}
}
