package doctor

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/pipeline"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const day = 24 * time.Hour

func routers(b groups.Backlog) []backlogFacts {
	b.Topic = "raw-events"
	return []backlogFacts{{Backlog: b, stage: stages()[1]}}
}

func TestJudgeRetention(t *testing.T) {
	t.Parallel()
	bounded := groups.Backlog{Kept: 30 * day, Bytes: 128 << 20, Held: 100_000, Waiting: 60_000}
	check(t, map[string]verdict{
		"nothing":                         {judgeRetention(nil, false), OK, "younger than three quarters"},
		"young":                           {judgeRetention(routers(groups.Backlog{Kept: 30 * day, Held: 100_000, Waiting: 100_000}), false), OK, "younger"},
		"old":                             {judgeRetention(routers(groups.Backlog{Kept: 30 * day, Held: 100, Waiting: 80, Aging: 12_345}), false), Problem, "raw-events: 12,345 events that router has not read are older|of the 30d|raise retention.ms"},
		"gone":                            {judgeRetention(routers(groups.Backlog{Kept: 30 * day, Aging: 1, Deleted: 39_088}), false), Problem, "39,088 events were deleted before router had read them"},
		"bounded":                         {judgeRetention(routers(bounded), false), Warning, "router has not read 60,000 of the 100,000|128MiB, read or not|retention.bytes"},
		"bounded, of the embedded broker": {judgeRetention(routers(bounded), true), OK, "younger"},
		"bounded, and read":               {judgeRetention(routers(groups.Backlog{Bytes: 1 << 20, Held: 100_000, Waiting: 20_000}), false), OK, "younger"},
		"bounded, few":                    {judgeRetention(routers(groups.Backlog{Bytes: 1 << 20, Held: 10, Waiting: 10}), false), OK, "younger"},
	})
}

func TestJudgeOffsets(t *testing.T) {
	t.Parallel()
	sinks := []backlogFacts{{Backlog: groups.Backlog{Topic: "deliver.a", Kept: day}, stage: stages()[2]}, {Backlog: groups.Backlog{Topic: "deliver.b", Kept: 8 * day}, stage: stages()[2]}}
	copied := routers(groups.Backlog{Kept: 30 * day})
	copied[0].copied = true
	check(t, map[string]verdict{
		"not known":   {judgeOffsets(0, routers(groups.Backlog{Kept: 30 * day})), OK, "not known (offsets.retention.minutes"},
		"no topics":   {judgeOffsets(7*day, nil), OK, "can find its position"},
		"as long":     {judgeOffsets(30*day, routers(groups.Backlog{Kept: 30 * day})), OK, "can find its position"},
		"shorter":     {judgeOffsets(7*day, routers(groups.Backlog{Kept: 30 * day})), Warning, "offsets.retention.minutes: the brokers delete the offsets of a stopped router after 7d|raw-events keeps events for 30d|wait for ROUTER_START|raise offsets.retention.minutes|group of the copy"},
		"with a copy": {judgeOffsets(7*day, copied), OK, "can find its position"},
		"for ever":    {judgeOffsets(7*day, routers(groups.Backlog{})), Warning, "keeps events for ever"},
		"one of two":  {judgeOffsets(7*day, sinks), Warning, "a stopped webhook-sink|deliver.b keeps events for 8d|deliver again"},
	})
	if got := judgeOffsets(7*day, slices.Concat(routers(groups.Backlog{Kept: 30 * day}), sinks)); len(got) != 2 {
		t.Errorf("found %+v, want one of each stage", got)
	}
}

// TestACopyOfTheOffsets is looked for once there is something to copy.
func TestACopyOfTheOffsets(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	cluster.CreateTopics(t, 1, schemas.TopicRawEvents)
	topics := topics.New(cluster.Client(t), policy.Config{})
	admin := kadm.NewClient(cluster.Client(t))
	routers := stages()[1:2]
	look := func(when string, want bool) {
		t.Helper()
		got, err := lookAtBacklogs(t.Context(), topics, routers, []string{schemas.TopicRawEvents})
		if err != nil || len(got) != 1 || got[0].copied != want {
			t.Errorf("%s: %+v (%v), want copied to be %t", when, got, err, want)
		}
	}
	commit := func(group string) {
		t.Helper()
		var offsets kadm.Offsets
		offsets.AddOffset(schemas.TopicRawEvents, 0, 0, -1)
		if err := admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
			t.Fatal(err)
		}
	}
	look("nothing was routed", true)
	commit(router.Group)
	look("routed, and not copied", false)
	commit(router.Bookmark)
	look("copied", true)
	routers[0].Group.Copy = pipeline.Copy{}
	look("a stage without a copy", false)
}
