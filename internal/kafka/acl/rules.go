package acl

import "github.com/twmb/franz-go/pkg/kmsg"

// The operations that roles need.
const (
	Read            = kmsg.ACLOperationRead
	Write           = kmsg.ACLOperationWrite
	Create          = kmsg.ACLOperationCreate
	Describe        = kmsg.ACLOperationDescribe
	DescribeConfigs = kmsg.ACLOperationDescribeConfigs
)

// Topic is about the topic of a name. Read and Write let a principal see a topic too,
// so Describe is only for those who do neither.
func Topic(name, why string, operations ...kmsg.ACLOperation) []Rule {
	return topics(Rule{Name: name, Why: why}, operations)
}

// Topics is about all topics whose names begin with prefix.
func Topics(prefix, why string, operations ...kmsg.ACLOperation) []Rule {
	return topics(Rule{Name: prefix, Prefixed: true, Why: why}, operations)
}

func topics(on Rule, operations []kmsg.ACLOperation) []Rule {
	on.Resource = kmsg.ACLResourceTypeTopic
	rules := make([]Rule, len(operations))
	for i, o := range operations {
		rules[i] = on
		rules[i].Operation = o
		switch o {
		case Create:
			rules[i].Creates, rules[i].Why = true, "creates what is missing"
		case DescribeConfigs:
			rules[i].Why = "compares its settings with ours at the start"
		default:
		}
	}
	return rules
}

// Group is about being a member of a group, or committing offsets for it.
func Group(name, why string) Rule {
	return Rule{Resource: kmsg.ACLResourceTypeGroup, Name: name, Operation: Read, Why: why}
}

// Groups is about seeing all groups whose names begin with prefix.
func Groups(prefix, why string) Rule {
	return Rule{Resource: kmsg.ACLResourceTypeGroup, Name: prefix, Prefixed: true, Operation: Describe, Why: why}
}

// Transactions is about all transactional ids that begin with prefix.
func Transactions(prefix, why string) Rule {
	return Rule{Resource: kmsg.ACLResourceTypeTransactionalId, Name: prefix, Prefixed: true, Operation: Write, Why: why}
}
