package acl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	role := Role{Name: "router", Rules: []Rule{
		{Resource: kmsg.ACLResourceTypeTopic, Name: "deliver.", Prefixed: true, Operation: kmsg.ACLOperationWrite},
		{Resource: kmsg.ACLResourceTypeTopic, Name: "raw-events", Operation: kmsg.ACLOperationCreate, Creates: true},
		{Resource: kmsg.ACLResourceTypeTopic, Name: "raw-events", Operation: kmsg.ACLOperationDescribeConfigs},
		{Resource: kmsg.ACLResourceTypeGroup, Name: "anabranch-router", Operation: kmsg.ACLOperationRead},
		{Resource: kmsg.ACLResourceTypeTransactionalId, Name: "anabranch-router-", Prefixed: true, Operation: kmsg.ACLOperationDescribe},
	}}
	const add = "kafka-acls.sh --add --allow-principal User:r --operation "
	want := []string{
		add + "Write --topic deliver. --resource-pattern-type prefixed",
		add + "Create --operation DescribeConfigs --topic raw-events",
		add + "Read --group anabranch-router",
		add + "Describe --transactional-id anabranch-router- --resource-pattern-type prefixed",
	}
	if diff := cmp.Diff(want, role.Commands("User:r", true)); diff != "" {
		t.Errorf("commands (-want +got)\n%s", diff)
	}
	if got := role.Commands("User:r", false); len(got) != len(want) || strings.Contains(strings.Join(got, ""), "Create") {
		t.Errorf("without the right to create topics:\n%s", strings.Join(got, "\n"))
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	roles := []Role{{Name: "router"}, {Name: "status", Does: "shows"}}
	if got, ok := Named(roles, "status"); !ok || got.Does != "shows" {
		t.Errorf("Named = %v, %v", got, ok)
	}
	if _, ok := Named(roles, "nobody"); ok {
		t.Error("there is a role of which nobody knows")
	}
}

// TestMarkdown: what a role can't do without a rule follows from its operation, unless
// the rule says so itself.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	kept := Group("anabranch-router-bookmark", "keeps a copy")
	kept.Without = "it works"
	got := Markdown([]Role{{Name: "dead-letters list", Does: "shows", Rules: append(Topics("deliver.", "reads", Read, Create, DescribeConfigs), kept)}})
	for _, line := range []string{
		"### dead-letters list\n\nIt shows.\n",
		"| topic | `deliver.` (prefix) | Read | reads | it can't work |",
		"| topic | `deliver.` (prefix) | Create | creates what is missing | topics have to be there |",
		"| topic | `deliver.` (prefix) | DescribeConfigs | compares its settings with ours at the start | that is left out |",
		"| group | `anabranch-router-bookmark` | Read | keeps a copy | it works |",
		"    kafka-acls.sh --add --allow-principal User:dead-letters-list --operation Read --group anabranch-router-bookmark\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
}
