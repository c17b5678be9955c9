package pipeline

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/acl"
)

// Role returns what the stage must be allowed on the brokers.
func (s *Stage) Role() acl.Role {
	role := acl.Role{Name: s.Name, Does: s.Does}
	for _, t := range s.Topics {
		role.Rules = append(role.Rules, t.Rules(t.Why, t.operations()...)...)
	}
	if s.Group.Name != "" {
		role.Rules = append(role.Rules, acl.Group(s.Group.Name, "is a member of its group"))
	}
	if kept := s.Group.Copy; kept.Group != "" {
		rule := acl.Group(kept.Group, kept.Why)
		rule.Without = kept.Without
		role.Rules = append(role.Rules, rule)
	}
	if s.Watches.Group != "" {
		role.Rules = append(role.Rules, acl.Groups(s.Watches.Group, s.Watches.Why))
	}
	if s.Transactions.Prefix != "" {
		role.Rules = append(role.Rules, acl.Transactions(s.Transactions.Prefix, s.Transactions.Why))
	}
	return role
}

// Roles returns those of the stages.
func (s Stages) Roles() []acl.Role {
	roles := make([]acl.Role, len(s))
	for i, one := range s {
		roles[i] = one.Role()
	}
	return roles
}

// Rules allow operations on the topic.
func (t Topic) Rules(why string, operations ...kmsg.ACLOperation) []acl.Rule {
	if t.Prefixed() {
		return acl.Topics(t.Name, why, operations...)
	}
	return acl.Topic(t.Name, why, operations...)
}

func (t Topic) operations() []kmsg.ACLOperation {
	var all []kmsg.ACLOperation
	if t.Read || t.Consumed != (Verb{}) {
		all = append(all, acl.Read)
	}
	if t.Write {
		all = append(all, acl.Write)
	}
	if len(all) == 0 {
		all = append(all, acl.Describe)
	}
	if t.Found {
		return all
	}
	return append(all, acl.Create, acl.DescribeConfigs)
}
