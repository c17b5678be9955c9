package listing

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who looks at dead letters.
func Role() acl.Role {
	return acl.Role{Name: "dead-letters list", Does: "shows dead letters; `show` too", Rules: slices.Concat(
		acl.Topic(schemas.TopicDeadLetters, "reads dead letters", acl.Read),
		acl.Topic(schemas.TopicRedriven, "knows which were sent again", acl.Read),
	)}
}
