package group

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/test/testkit"
)

const (
	topic = "deliver.archive.cold"
	name  = "anabranch-archive"
)

// join returns a member that has the topic's one partition.
func join(t *testing.T, c *testkit.Cluster) (*Member, cut.TopicID) {
	t.Helper()
	c.CreateTopics(t, 1, topic)
	assigned := make(chan struct{}, 1)
	client := c.Client(t, slices.Concat(Join(name), []kgo.Opt{
		kgo.ConsumeTopics(topic),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, all map[string][]int32) {
			if len(all) > 0 {
				assigned <- struct{}{}
			}
		}),
	})...)
	go client.PollFetches(t.Context())
	<-assigned
	ids, err := IDs(t.Context(), client, topic, "missing")
	if err != nil || len(ids) != 1 {
		t.Fatalf("ids %v, %v", ids, err)
	}
	return New(client, name), ids[topic]
}

// committed is what the group has.
func committed(t *testing.T, c *testkit.Cluster) cut.Mark {
	t.Helper()
	commits, err := kafka.NewTopics(c.Client(t)).Commits(t.Context(), name, topic)
	if err != nil {
		t.Fatal(err)
	}
	mark, _, err := cut.Parse(commits[0].Offset, commits[0].Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return mark
}

func TestCommits(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	m, id := join(t, c)
	at, by := kafka.Partition{Topic: topic}, m.Identity()
	for _, mark := range []cut.Mark{{From: 3}, {From: 3, To: 9}, {From: 9}} {
		if err := m.Commit(t.Context(), by, at, id, mark); err != nil {
			t.Fatal(err)
		}
		if got := committed(t, c); got != mark {
			t.Errorf("the group has %v, want %v", got, mark)
		}
	}
	by.generation--
	err := m.Commit(t.Context(), by, at, id, cut.Mark{From: 12})
	if !errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, ErrUnknown) || errors.Is(err, ErrGone) {
		t.Errorf("of a generation that is over: %v", err)
	}
	if got := committed(t, c); got != (cut.Mark{From: 9}) {
		t.Errorf("the group has %v", got)
	}
}

// TestACommitThatIsNotAnswered may have been made: it is sent once, and nobody says that it
// failed.
func TestACommitThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	m, id := join(t, c)
	var sent atomic.Int64
	c.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		sent.Add(1)
		return nil, errors.New("the connection is lost"), true
	})
	began := time.Now()
	if err := m.Commit(t.Context(), m.Identity(), kafka.Partition{Topic: topic}, id, cut.Mark{From: 3}); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v, want %v", err, ErrUnknown)
	}
	if n := sent.Load(); n != 1 {
		t.Errorf("it was sent %d times within %s", n, time.Since(began))
	}
}
