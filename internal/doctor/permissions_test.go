package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/anabranch/anabranch/internal/kafka/acl"
	"github.com/anabranch/anabranch/internal/status"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// fenced is a cluster with topics of ours where a user may do what a role has to, but
// for the rules that without names.
func fenced(t *testing.T, role acl.Role, without func(acl.Rule) bool) *kgo.Client {
	t.Helper()
	var granted []kfake.ACL
	for _, rule := range role.Rules {
		if without(rule) {
			continue
		}
		pattern := kmsg.ACLResourcePatternTypeLiteral
		if rule.Prefixed {
			pattern = kmsg.ACLResourcePatternTypePrefixed
		}
		granted = append(granted, kfake.ACL{Resource: rule.Resource, Name: rule.Name, Pattern: pattern, Operation: rule.Operation, Allow: true})
	}
	cluster := testkit.Fake(t, kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "a"), kfake.User("PLAIN", "stage", "s", granted...))
	as := func(user, password string) *kgo.Client {
		return cluster.Client(t, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	}
	created, err := kadm.NewClient(as("admin", "a")).CreateTopics(t.Context(), 1, 1, nil, ourTopics()...)
	if err == nil {
		err = created.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
	return as("stage", "s")
}

func ourTopics() []string {
	return []string{schemas.TopicRawEvents, schemas.TopicDeadLetters, schemas.TopicRedriven, schemas.TopicSeen, schemas.TopicJournal, schemas.TopicWorkspace, schemas.TopicRegulations, schemas.TopicReplays, schemas.TopicImports, schemas.DeliverTopic("crm"), schemas.ReplayTopic("crm"), "webhook-retry.5s"}
}

// TestEachMissingRuleIsFound: with all that the list says a stage needs, the doctor
// has nothing to say; without any one of it, it names that.
func TestEachMissingRuleIsFound(t *testing.T) {
	t.Parallel()
	for _, role := range append(stages().Roles(), status.Role(stages())) {
		name := role.Name
		look := func(t *testing.T, without func(acl.Rule) bool) []Finding {
			t.Helper()
			cl := fenced(t, role, without)
			topics, err := lookAtTopics(t.Context(), cl, ourTopics())
			if err != nil {
				t.Fatal(err)
			}
			granted, err := lookAtGrants(t.Context(), cl, topics, []acl.Role{role})
			if err != nil {
				t.Fatal(err)
			}
			return judgeGrants(granted, []acl.Role{role})
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, look(t, func(acl.Rule) bool { return false }), OK, "has all permissions")
		})
		for _, missing := range role.Rules {
			t.Run(name+" without "+missing.String(), func(t *testing.T) {
				t.Parallel()
				level := Problem
				if missing.Creates {
					level = Warning
				}
				found := look(t, func(r acl.Rule) bool { return r == missing })
				// A topic that can't be seen hides what else is allowed on it.
				if !slices.ContainsFunc(found, func(f Finding) bool {
					return f.Level == level && f.About == name && strings.Contains(f.Found, missing.String())
				}) {
					t.Errorf("found %+v, want a %s with %s", found, level, missing)
				}
			})
		}
	}
}
