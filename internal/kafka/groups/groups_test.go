package groups

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestGroups(t *testing.T) {
	t.Parallel()
	cluster := testkit.Brokers(t)
	crm := schemas.DeliverTopic("crm")
	cluster.CreateTopics(t, 3, crm)
	cl := cluster.Client(t)
	groups := func() []Group {
		t.Helper()
		found, err := Describe(t.Context(), cl, "anabranch-nobody", lagGroup)
		if err != nil || len(found) != 2 || found[0].Name != "anabranch-nobody" {
			t.Fatalf("groups %+v, error %v, want those that were named", found, err)
		}
		if found[0].State != "" || len(found[0].Members) > 0 {
			t.Errorf("a group that does not exist is %+v", found[0])
		}
		return found
	}
	groups()
	cluster.Client(t, kgo.ConsumerGroup(lagGroup), kgo.ConsumeTopics(crm), kgo.InstanceID("anabranch-0"), kgo.ClientID("tester"))
	testkit.Until(t, func() bool {
		g := groups()[1]
		return g.State == "Stable" && len(g.Members) == 1 && len(g.Members[0].Partitions[crm]) == 3
	}, "the member to have all partitions")
	g := groups()[1]
	m := g.Members[0]
	if m.InstanceID != "anabranch-0" || m.ClientID != "tester" || m.Host == "" || m.ID == "" || !g.Settled() {
		t.Errorf("member %+v of %+v", m, g)
	}
	if least := 2 * len(crm); g.MetadataBytes < least || g.MetadataBytes > 1000 {
		t.Errorf("metadata of %d bytes, want more than %d: the topic is named twice", g.MetadataBytes, least)
	}
}

func TestGroupThatIsNone(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]kadm.DescribedGroup{
		"old brokers": {State: "Dead"},
		"new brokers": {State: "Dead", Err: kerr.GroupIDNotFound},
		"unanswered":  {},
	} {
		if g := newGroup("g", d); g.State != "" || !g.Settled() {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if g := newGroup("g", kadm.DescribedGroup{State: "PreparingRebalance"}); g.Settled() {
		t.Error("a group that waits for its members is settled")
	}
}
