package doctor

import (
	"slices"
	"testing"
	"time"

	"github.com/anabranch/anabranch/internal/kafka"
)

const day = 24 * time.Hour

func routers(b kafka.Backlog) []backlogFacts {
	b.Topic = "raw-events"
	return []backlogFacts{{b, "router"}}
}

func TestJudgeRetention(t *testing.T) {
	t.Parallel()
	bounded := kafka.Backlog{Kept: 30 * day, Bytes: 128 << 20, Held: 100_000, Waiting: 60_000}
	check(t, map[string]verdict{
		"nothing":                         {judgeRetention(nil, false), OK, "younger than three quarters"},
		"young":                           {judgeRetention(routers(kafka.Backlog{Kept: 30 * day, Held: 100_000, Waiting: 100_000}), false), OK, "younger"},
		"old":                             {judgeRetention(routers(kafka.Backlog{Kept: 30 * day, Held: 100, Waiting: 80, Aging: 12_345}), false), Problem, "raw-events: 12,345 events that router has not read are older|of the 30d|raise retention.ms"},
		"gone":                            {judgeRetention(routers(kafka.Backlog{Kept: 30 * day, Aging: 1, Deleted: 39_088}), false), Problem, "39,088 events were deleted before router had read them"},
		"bounded":                         {judgeRetention(routers(bounded), false), Warning, "router has not read 60,000 of the 100,000|128MiB, read or not|retention.bytes"},
		"bounded, of the embedded broker": {judgeRetention(routers(bounded), true), OK, "younger"},
		"bounded, and read":               {judgeRetention(routers(kafka.Backlog{Bytes: 1 << 20, Held: 100_000, Waiting: 20_000}), false), OK, "younger"},
		"bounded, few":                    {judgeRetention(routers(kafka.Backlog{Bytes: 1 << 20, Held: 10, Waiting: 10}), false), OK, "younger"},
	})
}

func TestJudgeOffsets(t *testing.T) {
	t.Parallel()
	sinks := []backlogFacts{{kafka.Backlog{Topic: "deliver.a", Kept: day}, "webhook-sink"}, {kafka.Backlog{Topic: "deliver.b", Kept: 8 * day}, "webhook-sink"}}
	check(t, map[string]verdict{
		"not known":  {judgeOffsets(0, routers(kafka.Backlog{Kept: 30 * day})), OK, "not known (offsets.retention.minutes"},
		"no topics":  {judgeOffsets(7*day, nil), OK, "for longer"},
		"as long":    {judgeOffsets(30*day, routers(kafka.Backlog{Kept: 30 * day})), OK, "for longer"},
		"shorter":    {judgeOffsets(7*day, routers(kafka.Backlog{Kept: 30 * day})), Warning, "offsets.retention.minutes: the brokers forget after 7d how far a router was|raw-events keeps events for 30d|repeat or pass over|set offsets.retention.minutes"},
		"for ever":   {judgeOffsets(7*day, routers(kafka.Backlog{})), Warning, "keeps events for ever"},
		"one of two": {judgeOffsets(7*day, sinks), Warning, "a webhook-sink was|deliver.b keeps events for 8d"},
	})
	if got := judgeOffsets(7*day, slices.Concat(routers(kafka.Backlog{Kept: 30 * day}), sinks)); len(got) != 2 {
		t.Errorf("found %+v, want one of each stage", got)
	}
}

func TestReadBy(t *testing.T) {
	t.Parallel()
	topics := []string{"dead-letters", "deliver.crm", "raw-events", "webhook-retry.1m", "workspace"}
	if got := readBy("router", topics); !slices.Equal(got, []string{"raw-events"}) {
		t.Errorf("a router reads %v", got)
	}
	if got := readBy("webhook-sink", topics); !slices.Equal(got, []string{"deliver.crm", "webhook-retry.1m"}) {
		t.Errorf("a sink reads %v", got)
	}
}
