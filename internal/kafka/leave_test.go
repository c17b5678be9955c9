package kafka

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
)

// joined returns a client that is a member of the group.
func joined(t *testing.T, c *testkit.Cluster, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	has := make(chan struct{}, 10)
	cl := c.Client(t, append(opts, kgo.ConsumerGroup("sinks"), kgo.ConsumeTopics("deliver.crm"),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { has <- struct{}{} }))...)
	<-has
	return cl
}

// TestLeaveIsNoticedAtOnce: a static member's client says nothing when it closes, so
// somebody has to.
func TestLeaveIsNoticedAtOnce(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "deliver.crm"))
	cl := joined(t, c, kgo.InstanceID("sink-0"))
	id, _ := cl.GroupMetadata()
	if err := cl.LeaveGroupContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Fake.GroupInfo("sinks").Members); n != 1 {
		t.Fatalf("%d members: the library leaves on its own behalf, and Leave is not needed", n)
	}
	for range 2 { // the second time it has left already
		if err := Leave(t.Context(), cl, "sinks", id); err != nil {
			t.Errorf("Leave: %v", err)
		}
		if n := len(c.Fake.GroupInfo("sinks").Members); n != 0 {
			t.Errorf("%d members are left", n)
		}
	}
}

// TestLeaveSparesASuccessor: who has the name now is another member.
func TestLeaveSparesASuccessor(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "deliver.crm"))
	cl := joined(t, c, kgo.InstanceID("sink-0"))
	id, _ := cl.GroupMetadata()
	cl.Close()
	joined(t, c, kgo.InstanceID("sink-0"))
	if err := Leave(t.Context(), c.Client(t), "sinks", id); err != nil {
		t.Errorf("Leave: %v, though the predecessor has gone", err)
	}
	if n := len(c.Fake.GroupInfo("sinks").Members); n != 1 {
		t.Errorf("%d members, want the successor", n)
	}
}

func TestLeaveSaysWhatWentWrong(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t, kfake.NumBrokers(1), kfake.SeedTopics(2, "deliver.crm"))
	cl := joined(t, c)
	c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.LeaveGroup}, Group: "sinks", Err: kerr.GroupAuthorizationFailed, Count: 1})
	id, _ := cl.GroupMetadata()
	if err := Leave(t.Context(), c.Client(t), "sinks", id); !errors.Is(err, kerr.GroupAuthorizationFailed) {
		t.Errorf("Leave: %v, want the broker's refusal", err)
	}
}
