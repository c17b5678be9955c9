package acl

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
)

// TestTheDocumentHasTheList: docs/brokers.md shows what the code says.
func TestTheDocumentHasTheList(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/brokers.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "<!-- acls:begin -->\n")
	shown, _, ended := strings.Cut(rest, "<!-- acls:end -->")
	if !found || !ended {
		t.Fatal("docs/brokers.md has no place for the list")
	}
	if diff := cmp.Diff(Markdown(), shown); diff != "" {
		t.Errorf("docs/brokers.md differs from the list; paste this between the marks of it:\n%s\n(-list +document)\n%s", Markdown(), diff)
	}
}

// TestNothingIsAllowedTwice, or more widely than by names of ours.
func TestNothingIsAllowedTwice(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, role := range Roles() {
		if names[role.Name] || role.Does == "" || len(role.Rules) == 0 {
			t.Errorf("role %q is there twice, or does nothing", role.Name)
		}
		names[role.Name] = true
		seen := make(map[string]bool)
		for _, r := range role.Rules {
			if seen[r.String()] {
				t.Errorf("%s is allowed %s twice", role.Name, r)
			}
			seen[r.String()] = true
			if r.Name == "" || r.Name == "*" || r.Resource == kmsg.ACLResourceTypeCluster {
				t.Errorf("%s is allowed %s, which is wider than what is ours", role.Name, r)
			}
			if r.Why == "" || r.Creates != (r.Operation == kmsg.ACLOperationCreate) {
				t.Errorf("%s is allowed %s, and nothing says why, or that it is to create topics", role.Name, r)
			}
		}
	}
}

// TestReadersWriteNothing: who only looks can't do harm.
func TestReadersWriteNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"status", "dead-letters list"} {
		role, ok := Named(name)
		if !ok {
			t.Fatalf("there is no role %s", name)
		}
		for _, r := range role.Rules {
			switch r.Operation {
			case kmsg.ACLOperationRead, kmsg.ACLOperationDescribe, kmsg.ACLOperationDescribeConfigs:
			default:
				t.Errorf("%s is allowed %s", name, r)
			}
		}
	}
}

// TestPrefixesAreThoseOfTopics: package schemas makes the names.
func TestPrefixesAreThoseOfTopics(t *testing.T) {
	t.Parallel()
	if schemas.DeliverTopic("") != deliver {
		t.Errorf("destinations' topics begin with %q, the list says %q", schemas.DeliverTopic(""), deliver)
	}
	if topic := schemas.RetryTopic(5e9); !strings.HasPrefix(topic, retry) {
		t.Errorf("a retry topic is called %q, the list says %q", topic, retry)
	}
}

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
	if _, ok := Named("nobody"); ok {
		t.Error("there is a role of which nobody knows")
	}
	for _, want := range Roles() {
		if got, ok := Named(want.Name); !ok || got.Does != want.Does {
			t.Errorf("Named(%q) = %v, %v", want.Name, got, ok)
		}
	}
}
