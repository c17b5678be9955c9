package messagetrace

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who traces calls.
func Role() acl.Role {
	return acl.Role{Name: "trace", Does: "shows what became of a call", Rules: slices.Concat(
		acl.Topic(schemas.TopicRawEvents, "finds calls", acl.Read),
		acl.Topic(schemas.TopicJournal, "knows what became of them", acl.Read),
		acl.Topics(schemas.DeliverPrefix, "sees whether the sink is past them", acl.Read),
		acl.Topics(schemas.ReplayPrefix, "finds what replays sent", acl.Read),
		acl.Topics(schemas.RetryPrefix, "knows where retries wait", acl.Read),
		acl.Topic(schemas.TopicDeadLetters, "reads dead letters", acl.Read),
		acl.Topic(schemas.TopicRedriven, "knows which were sent again", acl.Read),
		acl.Topic(schemas.TopicWorkspace, "knows sources and endpoints", acl.Read),
		acl.Topic(schemas.TopicRegulations, "knows who is suppressed", acl.Read),
		[]acl.Rule{acl.Groups(schemas.OwnPrefix, "knows how far the router and the sink are")},
	)}
}
