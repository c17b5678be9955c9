package acl

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Markdown is roles as docs/brokers.md shows them: for each a table, and the commands
// that put it in force for the principal User:ROLE.
func Markdown(roles []Role) string {
	var b strings.Builder
	for _, role := range roles {
		fmt.Fprintf(&b, "### %s\n\nIt %s.\n\n", role.Name, role.Does)
		b.WriteString("| resource | name | operation | what for | without it |\n|---|---|---|---|---|\n")
		for _, r := range role.Rules {
			name := "`" + r.Name + "`"
			if r.Prefixed {
				name += " (prefix)"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", resource(r.Resource), name, operation(r.Operation), r.Why, r.without())
		}
		b.WriteString("\n")
		for _, command := range role.Commands("User:"+principalOf(role.Name), true) {
			b.WriteString("    " + command + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// without says what becomes of a role that lacks the rule.
func (r Rule) without() string {
	switch {
	case r.Without != "":
		return r.Without
	case r.Creates:
		return "topics have to be there"
	case r.Operation == kmsg.ACLOperationDescribeConfigs:
		return "that is left out"
	default:
		return "it can't work"
	}
}

// principalOf is a user name that fits a role.
func principalOf(role string) string { return strings.ReplaceAll(role, " ", "-") }
