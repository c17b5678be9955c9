package apply

import (
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/internal/workspace/wstopic"
	"github.com/anabranch/anabranch/schemas"
)

// Topics are those of destinations and those that are made with them: stages create topics
// too, where brokers allow them to, and need not be allowed to where somebody has applied a
// workspace.
func Topics(stages pipeline.Stages, destinations ...string) []string {
	return slices.Concat(destinations, stages.Needed(), []string{schemas.TopicRedriven, schemas.TopicImports})
}

// Role is what somebody must be allowed who applies a workspace: to create the topics
// of the stages too, which may not be allowed to.
func Role(stages pipeline.Stages) acl.Role {
	rules := acl.Topic(schemas.TopicWorkspace, "reads and replaces the workspace", acl.Read, acl.Write, acl.Create)
	for _, t := range stages.Topics() {
		switch t.Name {
		case schemas.TopicWorkspace, schemas.ReplayPrefix, schemas.ArchivePrefix: // the last is among those of destinations
		case schemas.DeliverPrefix:
			rules = append(rules, t.Rules("makes sure that each destination has its topic", acl.Describe, acl.Create)...)
		default:
			rules = append(rules, t.Rules("creates what stages may not", acl.Describe, acl.Create)...)
		}
	}
	for _, topic := range []string{schemas.TopicRedriven, schemas.TopicImports} {
		rules = append(rules, acl.Topic(topic, "creates what commands may not", acl.Describe, acl.Create)...)
	}
	rules = append(rules, acl.Transactions(wstopic.TransactionalIDs, "replaces the workspace as a whole"))
	return acl.Role{Name: "apply", Does: "puts a workspace in force", Rules: rules}
}
