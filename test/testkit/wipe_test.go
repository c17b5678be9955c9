package testkit

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumeAs joins a group, consumes one record and leaves as the client options
// would have it.
func consumeAs(t *testing.T, c *Cluster, group string, opts ...kgo.Opt) {
	t.Helper()
	cl := c.Client(t, append(opts, kgo.ConsumerGroup(group), kgo.ConsumeTopics("raw-events"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	if err := cl.PollFetches(t.Context()).Err(); err != nil {
		t.Fatalf("consume as %s: %v", group, err)
	}
	if err := cl.CommitUncommittedOffsets(t.Context()); err != nil {
		t.Fatalf("commit as %s: %v", group, err)
	}
	cl.Close()
}

func TestEachTestOnABrokerFindsItEmpty(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			c := Brokers(t)
			admin := c.admin(t)
			if left, err := sweep(t.Context(), admin); err != nil || len(left) > 0 {
				t.Fatalf("it holds %v, error %v", left, err)
			}
			c.CreateTopics(t, 1, "raw-events", "deliver.crm", "webhook-retry.5s")
			transact(t, c, kgo.TryCommit, "a")
			consumeAs(t, c, "anabranch-dynamic")
			consumeAs(t, c, "anabranch-static", kgo.InstanceID("one"))
		})
	}
}

func TestWipeTakesTheProductsThingsAndNoOthers(t *testing.T) {
	product := []string{"raw-events", "dead-letters", "workspace", "regulations", "deliver.crm", "webhook-retry.1m30s", "anabranch-changelog"}
	others := []string{"deliver", "orders", "raw-events-2", "webhook-retry.soon"}
	c := Fake(t, kfake.SeedTopics(1, Marker), kfake.SeedTopics(1, product...), kfake.SeedTopics(1, others...))
	transact(t, c, kgo.TryCommit, "a")
	consumeAs(t, c, "anabranch-router")
	consumeAs(t, c, "anabranch-sink", kgo.InstanceID("sink-1"))
	consumeAs(t, c, "somebody-else")

	// In less than the 45 s after which a broker drops the static member itself.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	admin := c.admin(t)
	if err := wipe(ctx, admin); err != nil {
		t.Fatal(err)
	}
	topics, err := admin.ListTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{Marker}, others...), topics.Names()); diff != "" {
		t.Errorf("topics left (-want +got):\n%s", diff)
	}
	groups, err := admin.ListGroups(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"somebody-else"}, groups.Groups()); diff != "" {
		t.Errorf("groups left (-want +got):\n%s", diff)
	}
}

func TestWipeRefusesABrokerThatIsNotForTests(t *testing.T) {
	c := Fake(t, kfake.SeedTopics(1, "raw-events", "orders"))
	err := wipe(t.Context(), c.admin(t))
	if err == nil || !strings.Contains(err.Error(), "it holds [raw-events] and no topic "+Marker) {
		t.Errorf("error %v, want a refusal that names the topic and the marker", err)
	}
	if c.Fake.TopicInfo("raw-events") == nil {
		t.Error("raw-events was deleted")
	}
}

func TestWipeMarksABrokerWithoutOurTopics(t *testing.T) {
	c := Fake(t, kfake.SeedTopics(1, "orders"))
	admin := c.admin(t)
	if err := wipe(t.Context(), admin); err != nil {
		t.Fatal(err)
	}
	c.CreateTopics(t, 1, "raw-events")
	if err := wipe(t.Context(), admin); err != nil {
		t.Errorf("the second wipe, with product topics there: %v", err)
	}
}

func TestWipeAsksAgainUntilAllIsGone(t *testing.T) {
	c := Fake(t, kfake.SeedTopics(1, Marker, "raw-events"))
	refused := c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DeleteTopics}, Err: kerr.RequestTimedOut, Topic: "raw-events", Count: 2})
	if err := wipe(t.Context(), c.admin(t)); err != nil {
		t.Fatal(err)
	}
	if refused.Hits() == 0 {
		t.Error("no deletion was refused: the test showed nothing")
	}
	if c.Fake.TopicInfo("raw-events") != nil {
		t.Error("raw-events is still there")
	}
}

func TestWipeSaysWhatIsLeft(t *testing.T) {
	c := Fake(t, kfake.SeedTopics(1, Marker, "raw-events"))
	c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DeleteTopics}, Err: kerr.TopicDeletionDisabled, Topic: "raw-events", Count: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := wipe(ctx, c.admin(t))
	if err == nil || !strings.Contains(err.Error(), "delete [raw-events]") {
		t.Errorf("error %v, want one that names raw-events", err)
	}
}

// TestOneTestAtATime lets parallel tests reserve one broker; each stays until it
// has looked whether another is there too.
func TestOneTestAtATime(t *testing.T) {
	c := Fake(t)
	var inside atomic.Int32
	t.Run("together", func(t *testing.T) {
		for range 4 {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				(&Cluster{Addrs: c.Addrs}).reserve(t)
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d tests hold the broker", n)
				}
				t.Cleanup(func() { inside.Add(-1) })
				c.CreateTopics(t, 1, "raw-events") // fails unless the wipe ran
			})
		}
	})
}

func TestReserveGivesUpWithTheTest(t *testing.T) {
	c := Fake(t)
	c.reserve(t)
	got := verdictOf(t, func(tb *spy) { c.reserve(ending{tb}) })
	if !strings.Contains(got, "lock ") || !strings.Contains(got, context.DeadlineExceeded.Error()) {
		t.Errorf("verdict %q, want that the lock was waited for until the test's context ended", got)
	}
}

// ending is a test whose context ends before it does.
type ending struct{ *spy }

func (e ending) Context() context.Context {
	ctx, cancel := context.WithTimeout(e.spy.Context(), 50*time.Millisecond)
	e.Cleanup(cancel)
	return ctx
}
