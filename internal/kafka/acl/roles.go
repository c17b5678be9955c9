package acl

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
)

const (
	read            = kmsg.ACLOperationRead
	write           = kmsg.ACLOperationWrite
	create          = kmsg.ACLOperationCreate
	describe        = kmsg.ACLOperationDescribe
	describeConfigs = kmsg.ACLOperationDescribeConfigs
)

// Names of groups and beginnings of names. Those of stages and transactions repeat
// what stands in the packages that use them, which this one may not import; the
// test on a real broker fails where they differ.
const (
	deliver = "deliver."
	retry   = "webhook-retry."

	routerGroup = "anabranch-router"
	bookmark    = routerGroup + "-bookmark"
	sinkGroup   = "anabranch-webhook-sink"
	groups      = "anabranch-"
)

// Roles returns all roles, stages first.
func Roles() []Role {
	return []Role{
		{"ingest", "takes calls in, and carries out deletion requests", slices.Concat(
			topic(schemas.TopicRawEvents, "", "stores calls", write, create, describeConfigs),
			topic(schemas.TopicDeadLetters, "", "stores calls that a tracking plan blocks", write, create, describeConfigs),
			topic(schemas.TopicWorkspace, "", "knows write keys; stores deletion requests", read, write, create, describeConfigs),
			transactions("anabranch-regulation-", "carries out a deletion request once"),
		)},
		{"router", "routes calls to destinations", slices.Concat(
			topic(schemas.TopicRawEvents, "", "reads calls", read, create, describeConfigs),
			topic(schemas.TopicWorkspace, "", "knows destinations", read, create, describeConfigs),
			topic("", deliver, "writes events for destinations", write, create, describeConfigs),
			topic(schemas.TopicDeadLetters, "", "stores what it can't route", write, create, describeConfigs),
			group(routerGroup, "is a member of its group", read),
			group(bookmark, "keeps a copy of its offsets that brokers don't forget", read),
			transactions("anabranch-router-", "routes exactly once"),
		)},
		{"webhook-sink", "delivers events", slices.Concat(
			topic("", deliver, "reads events", read, create, describeConfigs),
			topic("", retry, "reads and writes retries", read, write, create, describeConfigs),
			topic(schemas.TopicWorkspace, "", "knows endpoints", read, create, describeConfigs),
			topic(schemas.TopicDeadLetters, "", "stores what it can't deliver", write, create, describeConfigs),
			group(sinkGroup, "is a member of its group", read),
		)},
		{"apply", "puts a workspace in force", slices.Concat(
			topic(schemas.TopicWorkspace, "", "reads and replaces the workspace", read, write, create),
			topic("", deliver, "makes sure that each destination has its topic", describe, create),
			topic("", retry, "creates what stages may not", describe, create),
			topic(schemas.TopicRawEvents, "", "creates what stages may not", describe, create),
			topic(schemas.TopicDeadLetters, "", "creates what stages may not", describe, create),
			topic(schemas.TopicRedriven, "", "creates what commands may not", describe, create),
			transactions("anabranch-workspace-", "replaces the workspace as a whole"),
		)},
		{"dead-letters list", "shows dead letters; `show` too", slices.Concat(
			topic(schemas.TopicDeadLetters, "", "reads dead letters", read),
			topic(schemas.TopicRedriven, "", "knows which were sent again", read),
		)},
		{"dead-letters redrive", "sends dead letters again", slices.Concat(
			topic(schemas.TopicDeadLetters, "", "reads dead letters", read),
			topic(schemas.TopicRedriven, "", "marks what was sent again", read, write, create),
			topic(schemas.TopicWorkspace, "", "knows destinations and suppressed users", read),
			topic("", deliver, "sends events again", write),
			topic(schemas.TopicRawEvents, "", "sends calls again that a tracking plan has blocked", write),
			transactions("anabranch-redrive", "sends each once"),
		)},
		{"status", "shows what runs and how far it is; `doctor` too", slices.Concat(
			topic(schemas.TopicRawEvents, "", "sees how far the router is", read, describeConfigs),
			topic("", deliver, "sees what waits for delivery", read, describeConfigs),
			topic("", retry, "sees what waits for a retry", read, describeConfigs),
			topic(schemas.TopicWorkspace, "", "knows destinations", read, describeConfigs),
			topic(schemas.TopicDeadLetters, "", "counts dead letters", read, describeConfigs),
			topic(schemas.TopicRedriven, "", "counts those not sent again", read, describeConfigs),
			group(groups, "sees members and their offsets", describe),
		)},
	}
}

// Named returns the role of a name, false when there is none.
func Named(name string) (Role, bool) {
	for _, r := range Roles() {
		if r.Name == name {
			return r, true
		}
	}
	return Role{}, false
}

// topic is about the topic of a name, or about all whose names begin with prefix.
// Read and Write let a principal see a topic too, so Describe is only for those who
// do neither.
func topic(name, prefix, why string, operations ...kmsg.ACLOperation) []Rule {
	rules := make([]Rule, len(operations))
	for i, o := range operations {
		rules[i] = Rule{Resource: kmsg.ACLResourceTypeTopic, Name: name + prefix, Prefixed: prefix != "", Operation: o, Why: why}
		switch o {
		case create:
			rules[i].Creates, rules[i].Why = true, "creates what is missing"
		case describeConfigs:
			rules[i].Why = "compares its settings with ours at the start"
		default:
		}
	}
	return rules
}

func group(name, why string, o kmsg.ACLOperation) []Rule {
	return []Rule{{Resource: kmsg.ACLResourceTypeGroup, Name: name, Prefixed: name == groups, Operation: o, Why: why}}
}

func transactions(prefix, why string) []Rule {
	return []Rule{{Resource: kmsg.ACLResourceTypeTransactionalId, Name: prefix, Prefixed: true, Operation: write, Why: why}}
}
