package router

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

func TestOutagesEnd(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	o := outages{
		"led again":  {leaderless: true},
		"leaderless": {leaderless: true},
		"left out":   {until: now.Add(time.Second)},
		"tried":      {until: now},
		"unwanted":   {leaderless: true},
		"deleted":    {leaderless: true},
	}
	existing := map[string][]int32{"led again": nil, "leaderless": {2}, "left out": nil, "tried": nil, "unwanted": {0}}
	wanted := map[string]bool{"led again": true, "leaderless": true, "left out": true, "tried": true, "deleted": true}
	over := o.end(existing, wanted, now)
	if diff := cmp.Diff([]string{"led again", "tried"}, over); diff != "" {
		t.Errorf("over (-want +got):\n%s", diff)
	}
	if len(o) != 2 || o["leaderless"] == (outage{}) || o["left out"] == (outage{}) {
		t.Errorf("what is left: %v", o)
	}
}

// virtualStage is a bench whose clock stands until all wait.
func virtualStage(t *testing.T, changes ...func(*Config, *Settings)) (*bench, *Router, *testkit.Logs) {
	t.Helper()
	b := newBench(t, testkit.Virtual(t, kfake.SleepOutOfOrder()))
	logs := new(testkit.Logs)
	return b, b.router(t, append(changes, func(_ *Config, set *Settings) {
		set.Logger, set.Kafka = logs.Logger(), append(set.Kafka, b.Options()...)
	})...), logs
}

// virtualTimeout is of the transactions there.
const virtualTimeout = 10 * time.Second

// users are events of so many users, which are on all partitions, numbered from one on.
func users(from, n int) []*kgo.Record {
	events := make([]*kgo.Record, n)
	for i := range events {
		events[i] = event(fmt.Sprintf("u%d", i), from+i, schemas.Headers{Source: "web"})
	}
	return events
}

// TestAPartitionWithoutALeader costs its destination dead letters, and the others a
// few seconds once. When the leader is back it is found by itself.
func TestAPartitionWithoutALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r, logs := virtualStage(t)
		start(t, r)
		restore := b.Leaderless(t, schemas.DeliverTopic("crm"), 1)
		began := time.Now()
		b.send(t, users(0, 20)...)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
		if took := time.Since(began); took > virtualTimeout {
			t.Errorf("others waited %s", took)
		}
		for _, rec := range b.ReadAll(t, schemas.TopicDeadLetters, 20) {
			h, err := kafka.HeadersOf(rec)
			if err != nil || h.Destination != "crm" || h.Reason != schemas.ReasonTopicUnavailable || !strings.Contains(h.Detail, "[1]") {
				t.Errorf("dead letter: %+v, %v", h, err)
			}
		}
		if n := logs.Count("level=ERROR"); n != 1 || logs.Count("topic=deliver.crm") == 0 {
			t.Errorf("%d lines of errors in\n%s", n, logs)
		}
		if got := testutil.ToFloat64(r.stage.metrics.unavailable); got != 1 {
			t.Errorf("%v topics unavailable, want 1", got)
		}

		began = time.Now()
		b.send(t, users(100, 5)...)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 25)
		if took := time.Since(began); took > time.Second {
			t.Errorf("others waited %s again", took)
		}

		restore()
		virtual.Sleep(recheck)
		b.send(t, users(200, 7)...)
		b.ReadAll(t, schemas.DeliverTopic("crm"), 7)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 32)
		if got := testutil.ToFloat64(r.stage.metrics.unavailable); got != 0 {
			t.Errorf("%v topics unavailable, want none", got)
		}
	})
}

// TestARemovedDestinationHoldsNobodyUp although a partition of its topic has no
// leader.
func TestARemovedDestinationHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r, _ := virtualStage(t)
		start(t, r)
		b.Leaderless(t, schemas.DeliverTopic("crm"), 0)
		began := time.Now()
		b.send(t, users(0, 20)...)
		virtual.Sleep(time.Second) // a transaction is held up
		s := b.live.Load()
		lake, _ := s.Destination("lake")
		b.live.Store(workspace.NewSnapshot(s.Sources(), []workspace.Destination{*lake}))
		b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
		if took := time.Since(began); took > virtualTimeout*3/4 {
			t.Errorf("the others waited %s", took)
		}
		b.ReadAll(t, schemas.TopicDeadLetters, 0)
	})
}

// TestATopicThatTakesNothing has leaders, and brokers that refuse its records for as
// long as nobody can wait: for their principal, or for want of replicas.
func TestATopicThatTakesNothing(t *testing.T) {
	for name, refusal := range map[string]*kerr.Error{"at once": kerr.TopicAuthorizationFailed, "again and again": kerr.NotEnoughReplicas} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, r, _ := virtualStage(t, func(cfg *Config, _ *Settings) { cfg.TransactionTimeout = 4 * time.Second })
				fault := b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: schemas.DeliverTopic("crm"), Err: refusal, Count: -1})
				start(t, r)
				b.send(t, users(0, 20)...)
				b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
				for _, rec := range b.ReadAll(t, schemas.TopicDeadLetters, 20) {
					if h, err := kafka.HeadersOf(rec); err != nil || h.Destination != "crm" || h.Reason != schemas.ReasonTopicUnavailable {
						t.Errorf("dead letter: %+v, %v", h, err)
					}
				}
				fault.Remove()
				virtual.Sleep(retryOut + recheck)
				b.send(t, users(100, 5)...)
				b.ReadAll(t, schemas.DeliverTopic("crm"), 5)
			})
		})
	}
}
