package imports

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/schemas"
)

// Role is what somebody must be allowed who imports files.
func Role() acl.Role {
	return acl.Role{Name: "import start", Does: "imports files", Rules: slices.Concat(
		acl.Topic(schemas.TopicRawEvents, "stores calls", acl.Write),
		acl.Topic(schemas.TopicDeadLetters, "stores calls that a tracking plan blocks", acl.Write),
		acl.Topic(schemas.TopicImports, "keeps how far an import is", acl.Read, acl.Write, acl.Create),
		acl.Topic(schemas.TopicWorkspace, "knows sources and destinations", acl.Read),
		acl.Topic(schemas.TopicRegulations, "knows suppressed users", acl.Read),
		[]acl.Rule{acl.Transactions(TransactionalIDs, "imports each row once")},
	)}
}
