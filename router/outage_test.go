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
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
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

func TestStrikes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at   []time.Duration
		want bool
	}{
		"twice":                            {[]time.Duration{0, time.Minute}, false},
		"three times in a moment":          {[]time.Duration{0, 1, 2}, false},
		"for longer than a broker is away": {[]time.Duration{0, 5 * time.Second, 10 * time.Second}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := make(strikes)
			got := false
			for _, at := range c.at {
				got = s.out("t", now.Add(at), 10*time.Second)
			}
			if got != c.want {
				t.Errorf("out = %t, want %t", got, c.want)
			}
		})
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		topics map[string]progress
		want   []string
	}{
		"one of several":               {map[string]progress{"a": {acked: 2}, "b": {open: 1}}, []string{"b"}},
		"all alike: the brokers":       {map[string]progress{"a": {open: 2}, "b": {open: 1}}, nil},
		"slow, and yet it comes":       {map[string]progress{"a": {acked: 2}, "b": {open: 1, acked: 1}}, nil},
		"there was nothing but itself": {map[string]progress{"b": {open: 1}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, unanswered(c.topics)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// virtual is a bench whose clock stands until all wait.
func virtual(t *testing.T) (*bench, *Router, *testkit.Logs) {
	t.Helper()
	b := newBench(t, testkit.Virtual(t, kfake.SleepOutOfOrder()))
	r := b.router(t)
	logs := new(testkit.Logs)
	r.log = logs.Logger()
	r.set.Kafka = append(r.set.Kafka, b.Options()...)
	return b, r, logs
}

// users are events of so many users, which are on all partitions.
func users(n int) []*kgo.Record {
	events := make([]*kgo.Record, n)
	for i := range events {
		events[i] = event(fmt.Sprintf("u%d", i), i, schemas.Headers{Source: "web"})
	}
	return events
}

// TestAPartitionWithoutALeader costs its destination dead letters, and the others a
// few seconds once. When the leader is back it is found by itself.
func TestAPartitionWithoutALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r, logs := virtual(t)
		start(t, r)
		restore := b.Leaderless(t, schemas.DeliverTopic("crm"), 1)
		began := time.Now()
		b.send(t, users(20)...)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
		if took := time.Since(began); took > r.cfg.TransactionTimeout {
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
		if got := testutil.ToFloat64(r.metrics.unavailable); got != 1 {
			t.Errorf("%v topics unavailable, want 1", got)
		}

		began = time.Now()
		b.send(t, users(5)...)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 25)
		if took := time.Since(began); took > time.Second {
			t.Errorf("others waited %s again", took)
		}

		restore()
		time.Sleep(recheck)
		b.send(t, users(7)...)
		b.ReadAll(t, schemas.DeliverTopic("crm"), 7)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 32)
		if got := testutil.ToFloat64(r.metrics.unavailable); got != 0 {
			t.Errorf("%v topics unavailable, want none", got)
		}
	})
}

// TestARemovedDestinationHoldsNobodyUp although a partition of its topic has no
// leader.
func TestARemovedDestinationHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r, _ := virtual(t)
		start(t, r)
		b.Leaderless(t, schemas.DeliverTopic("crm"), 0)
		began := time.Now()
		b.send(t, users(20)...)
		time.Sleep(time.Second) // a transaction is held up
		s := b.live.Load()
		lake, _ := s.Destination("lake")
		b.live.Store(workspace.NewSnapshot(s.Sources(), []workspace.Destination{*lake}))
		b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
		if took := time.Since(began); took > r.cfg.TransactionTimeout*3/4 {
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
				b, r, _ := virtual(t)
				r.cfg.TransactionTimeout = 4 * time.Second
				fault := b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: schemas.DeliverTopic("crm"), Err: refusal, Count: -1})
				start(t, r)
				b.send(t, users(20)...)
				b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
				for _, rec := range b.ReadAll(t, schemas.TopicDeadLetters, 20) {
					if h, err := kafka.HeadersOf(rec); err != nil || h.Destination != "crm" || h.Reason != schemas.ReasonTopicUnavailable {
						t.Errorf("dead letter: %+v, %v", h, err)
					}
				}
				fault.Remove()
				time.Sleep(retryOut + recheck)
				b.send(t, users(5)...)
				b.ReadAll(t, schemas.DeliverTopic("crm"), 5)
			})
		})
	}
}

// TestATransactionThatDoesNotEnd: its marker waits for a partition without a leader,
// and its transactional id with it.
func TestATransactionThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, r, logs := virtual(t)
		b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TxnID: r.set.TransactionalID, Err: kerr.ConcurrentTransactions, Count: -1})
		b.Fake.ControlKey(kmsg.DescribeTransactions.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
			b.Fake.KeepControl()
			return preparing(req.(*kmsg.DescribeTransactionsRequest), schemas.DeliverTopic("crm")), nil, true
		})
		start(t, r)
		b.send(t, users(20)...)
		b.ReadAll(t, schemas.DeliverTopic("lake"), 20)
		b.ReadAll(t, schemas.DeliverTopic("crm"), 20)
		if logs.Count(`going on as`) != 1 {
			t.Errorf("the log does not say once that another id is used:\n%s", logs)
		}
	})
}

func preparing(req *kmsg.DescribeTransactionsRequest, topic string) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	for _, id := range req.TransactionalIDs {
		state := kmsg.NewDescribeTransactionsResponseTransactionState()
		state.TransactionalID, state.State = id, "PrepareAbort"
		held := kmsg.NewDescribeTransactionsResponseTransactionStateTopic()
		held.Topic, held.Partitions = topic, []int32{0}
		state.Topics = append(state.Topics, held)
		resp.TransactionStates = append(resp.TransactionStates, state)
	}
	return resp
}
