package acl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// See ends each advice about permissions.
const See = "docs/brokers.md lists the ACLs of each stage"

// Rule allows one operation on one resource, or on all whose names begin alike.
type Rule struct {
	Resource  kmsg.ACLResourceType
	Name      string
	Prefixed  bool // Name is how names begin
	Operation kmsg.ACLOperation
	// Creates is true for what is needed only to create topics: roles do without it
	// where all topics were created beforehand.
	Creates bool
	// Why says what the role does with it, and Without what becomes of a role that lacks
	// it; empty: as a rule, what becomes of one that lacks such an operation.
	Why, Without string
}

// String is the rule in words, as in "Write on topics deliver.*".
func (r Rule) String() string {
	name := r.Name
	if r.Prefixed {
		name += "*"
	}
	return fmt.Sprintf("%s on %s %s", operation(r.Operation), resource(r.Resource), name)
}

// Role is what one principal does.
type Role struct {
	Name  string // as in `anabranch NAME`
	Does  string // in a clause, as in "routes calls to destinations"
	Rules []Rule
}

// Named returns the role of a name, false when there is none.
func Named(roles []Role, name string) (Role, bool) {
	i := slices.IndexFunc(roles, func(r Role) bool { return r.Name == name })
	if i < 0 {
		return Role{}, false
	}
	return roles[i], true
}

// Commands returns the calls of kafka-acls.sh that allow a principal such as
// "User:router" what the role needs, those to create topics included or not: one
// for each resource.
func (r Role) Commands(principal string, create bool) []string {
	var commands []string
	rules := slices.Clone(r.Rules)
	if !create {
		rules = slices.DeleteFunc(rules, func(rule Rule) bool { return rule.Creates })
	}
	for len(rules) > 0 {
		alike := 1
		for alike < len(rules) && rules[alike].on() == rules[0].on() {
			alike++
		}
		commands = append(commands, command(principal, rules[:alike]))
		rules = rules[alike:]
	}
	return commands
}

// command is about rules on one resource.
func command(principal string, rules []Rule) string {
	var b strings.Builder
	b.WriteString("kafka-acls.sh --add --allow-principal " + principal)
	for _, r := range rules {
		b.WriteString(" --operation " + operation(r.Operation))
	}
	return b.String() + rules[0].on()
}

// on is the rule's resource, as kafka-acls.sh takes it.
func (r Rule) on() string {
	text := fmt.Sprintf(" --%s %s", strings.ReplaceAll(resource(r.Resource), " ", "-"), r.Name)
	if r.Prefixed {
		text += " --resource-pattern-type prefixed"
	}
	return text
}

// operation is the name that kafka-acls.sh knows an operation by.
func operation(o kmsg.ACLOperation) string {
	switch o {
	case kmsg.ACLOperationRead:
		return "Read"
	case kmsg.ACLOperationWrite:
		return "Write"
	case kmsg.ACLOperationCreate:
		return "Create"
	case kmsg.ACLOperationDescribe:
		return "Describe"
	case kmsg.ACLOperationDescribeConfigs:
		return "DescribeConfigs"
	default:
		return o.String()
	}
}

func resource(t kmsg.ACLResourceType) string {
	switch t {
	case kmsg.ACLResourceTypeTopic:
		return "topic"
	case kmsg.ACLResourceTypeGroup:
		return "group"
	case kmsg.ACLResourceTypeTransactionalId:
		return "transactional id"
	default:
		return strings.ToLower(t.String())
	}
}
