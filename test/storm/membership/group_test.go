package membership

import (
	"context"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/testkit"
)

const (
	topic     = "deliver.crm"
	groupName = "sinks"
)

// bench is a group that a test makes and looks at.
type bench struct {
	*testing.T
	cluster *testkit.Cluster
	group   Group
}

func newBench(t *testing.T) *bench {
	t.Helper()
	c := testkit.Fake(t, kfake.NumBrokers(1), kfake.SeedTopics(4, topic))
	return &bench{T: t, cluster: c, group: Group{Client: c.Client(t), Name: groupName}}
}

// join adds a static member and waits until the group of so many has settled.
func (b *bench) join(instance string, members int) {
	b.Helper()
	assigned := make(chan struct{}, 10)
	b.cluster.Client(b.T, kgo.ConsumerGroup(groupName), kgo.ConsumeTopics(topic), kgo.InstanceID(instance),
		kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(func(context.Context, *kgo.Client, map[string][]int32) { assigned <- struct{}{} }))
	<-assigned
	if err := b.group.Settled(b.Context(), members, topic, 4); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) generation() int32 {
	b.Helper()
	n, err := b.group.Generation(b.Context())
	if err != nil || n < 1 {
		b.Fatalf("generation %d, %v", n, err)
	}
	return n
}

func TestAGroupOfNobody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if all, err := b.group.Members(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("members %v, %v", all, err)
	}
	if n, err := b.group.Generation(t.Context()); err == nil {
		t.Errorf("generation %d, though there is nobody to ask for", n)
	}
}

// TestTheGenerationMovesWithTheGroup, and not because it is asked for.
func TestTheGenerationMovesWithTheGroup(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.join("a", 1)
	alone := b.generation()
	if again := b.generation(); again != alone {
		t.Errorf("to ask moved the generation from %d to %d", alone, again)
	}
	b.join("b", 2)
	if both := b.generation(); both <= alone {
		t.Errorf("generation %d after a join, want more than %d", both, alone)
	}
}

func TestWhoHasWhat(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.join("a", 1)
	b.join("b", 2)
	if counts, err := b.group.Shares(t.Context(), topic); err != nil || !slices.Equal(counts, []int{2, 2}) {
		t.Errorf("shares %v, %v", counts, err)
	}
	all, err := b.group.Members(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shared := slices.Concat(Of(all, "a", topic), Of(all, "b", topic))
	if slices.Sort(shared); !slices.Equal(shared, []int32{0, 1, 2, 3}) {
		t.Errorf("together they have %v", shared)
	}
	if none := Of(all, "c", topic); len(none) != 0 {
		t.Errorf("a member that is not there has %v", none)
	}
}
