package wstopic

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// withoutTopicIDs are brokers that know topics by their names alone.
func withoutTopicIDs() kfake.Opt {
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.Fetch), 12)
	v.SetMaxKeyVersion(int16(kmsg.Metadata), 9)
	return kfake.MaxVersions(v)
}

func deleteTopic(t *testing.T, c *testkit.Cluster) {
	t.Helper()
	if _, err := kadm.NewClient(c.Client(t)).DeleteTopic(t.Context(), schemas.TopicWorkspace); err != nil {
		t.Fatal(err)
	}
}

// TestATopicMadeAnewIsTakenUp: somebody deletes the topic, with the follower running,
// and applies another workspace later on. In virtual time: the client asks for a topic
// that is gone for a while before it says so.
func TestATopicMadeAnewIsTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Virtual(t)
		apply(t, publisher(t, c), wstest.Of("a", "b"))
		f, live, out := following(t, c.Options())
		ready(t, f)
		before := live.Load()

		deleteTopic(t, c)
		testkit.Until(t, func() bool { return out.Count("workspace topic was deleted") > 0 }, "the deletion to be logged")
		testkit.Until(t, func() bool { return out.Count("topic workspace does not exist yet") > 0 }, "the missing topic to be logged")
		if err := f.Ready(); err != nil || live.Load() != before {
			t.Errorf("without its topic the follower is ready: %v, and has %v in force", err, wstest.IDs(live.Load()))
		}

		c.CreateTopics(t, 1, schemas.TopicWorkspace)
		testkit.Until(t, func() bool { return out.Count("holds no workspace") > 0 }, "the empty topic to be read")
		if live.Load() != before {
			t.Errorf("with an empty topic %v is in force", wstest.IDs(live.Load()))
		}

		apply(t, publisher(t, c), wstest.Of("b", "c"))
		inForce(t, live, "b", "c")
		apply(t, publisher(t, c), workspace.NewSnapshot(nil, nil)) // which is somebody's word
		inForce(t, live)
	})
}

// TestATopicMadeAnewAtOnce, before anybody saw that it was missing; also where brokers
// have no ids that tell one topic from another of its name.
func TestATopicMadeAnewAtOnce(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]kfake.Opt{"ids": nil, "no ids": {withoutTopicIDs()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testkit.Fake(t, opts...)
			apply(t, publisher(t, c), wstest.Of("a", "b"))
			f, live, out := following(t, c.Options())
			ready(t, f)
			deleteTopic(t, c)
			apply(t, publisher(t, c), wstest.Of("c"))
			inForce(t, live, "c")
			if n := out.Count("level=ERROR"); n == 0 {
				t.Errorf("nothing was said of it:\n%s", out)
			}
		})
	}
}

// TestUsersOfATopicMadeAnew are taken from it once it was read, and what it lacks of
// the former topic's is said.
func TestUsersOfATopicMadeAnew(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	write(t, c, record("suppression/1", "{}"))
	out, sink := new(testkit.Logs), &users{missing: 3}
	live := workspace.NewLive(workspace.NewSnapshot(nil, nil))
	f := NewFollower(FollowerSettings{Logger: out.Logger(), Registerer: prometheus.NewRegistry(), Kafka: c.Options(), Live: live, Regulations: sink})
	testkit.Start(t, func(ctx context.Context) error { return f.Run(ctx) })
	ready(t, f)
	if got := sink.seen(); !slices.Equal(got, []string{"suppression/1"}) {
		t.Errorf("ready with %v", got)
	}
	told := out.Count("suppressed_users=3")
	deleteTopic(t, c)
	apply(t, publisher(t, c), wstest.Of("b"))
	inForce(t, live, "b")
	write(t, c, record("suppression/2", "{}"))
	testkit.Until(t, func() bool { return slices.Contains(sink.seen(), "suppression/2") }, "the new topic's records")
	if out.Count("suppressed_users=3") == told {
		t.Errorf("what the topic lacks is not said:\n%s", out)
	}
}
