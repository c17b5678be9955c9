package doctor

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/kafka/txn/hanging"
	"github.com/anabranch/anabranch/router"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

func TestJudgeTransactions(t *testing.T) {
	t.Parallel()
	hold := func(change func(*hanging.Hold)) holdFacts {
		h := hanging.Hold{
			Topic: hanging.TopicOffsets, Partition: 7, Start: 8221, Written: noon.Add(-time.Minute), ProducerID: 3, TransactionalID: "anabranch-router-kafka-1",
		}
		change(&h)
		return holdFacts{holds: []hanging.Hold{h}}
	}
	judge := func(facts holdFacts) []Finding {
		return judgeTransactions(facts, stages(), []string{"k1:9092", "k2:9092"}, noon)
	}
	routers := stages()[1]
	const abort = "kafka-transactions.sh --bootstrap-server k1:9092,k2:9092 abort --topic __consumer_offsets --partition 7 --start-offset 8221"
	check(t, map[string]verdict{
		"none":                                {judge(holdFacts{}), OK, "no transaction was abandoned"},
		"one that will end":                   {judge(hold(func(h *hanging.Hold) { h.Known = true })), OK, ""},
		"one that ends just now":              {judge(hold(func(h *hanging.Hold) { h.Written = noon.Add(-time.Second) })), OK, ""},
		"one of somebody else":                {judge(hold(func(h *hanging.Hold) { h.TransactionalID = "billing-7" })), OK, ""},
		"one of a router":                     {judge(hold(func(*hanging.Hold) {})), Problem, "__consumer_offsets[7]|2026-11-21 11:59:00Z|producer 3, anabranch-router-kafka-1|not routed|INSTANCE_ID=kafka-1|" + abort + "|twice"},
		"one of nobody knows whom":            {judge(hold(func(h *hanging.Hold) { h.TransactionalID = "" })), Problem, "producer 3, transactional id unknown|" + abort},
		"one that holds up a topic":           {judge(hold(func(h *hanging.Hold) { h.Topic = "deliver.crm" })), Problem, "deliver.crm[7]|offset 8221|router with INSTANCE_ID=kafka-1 ends it when it starts|--topic deliver.crm --partition 7|discards"},
		"one of nobody that holds up a topic": {judge(hold(func(h *hanging.Hold) { h.Topic, h.TransactionalID = "deliver.crm", "" })), Problem, "deliver.crm[7]|next transaction|discards"},
		"one that may not be seen":            {judge(holdFacts{pending: []pendingFacts{{routers, routers.Topics[0], []int32{1, 4}}}}), Warning, "raw-events|partitions [1 4]|Read on __consumer_offsets"},
	})
}

// TestAnOpenTransactionIsFound: as long as its coordinator knows it, all is well.
func TestAnOpenTransactionIsFound(t *testing.T) {
	t.Parallel()
	cluster := testkit.Fake(t)
	set := clinic(t, cluster)
	crm := schemas.DeliverTopic("crm")
	cluster.CreateTopics(t, 1, crm)
	writer := cluster.Client(t, kgo.TransactionalID("anabranch-router-a"))
	if err := writer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := writer.ProduceSync(t.Context(), &kgo.Record{Topic: crm}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	look := func() []Finding {
		t.Helper()
		facts, err := lookAtTransactions(t.Context(), set.Topics, []string{crm, schemas.DeliverTopic("gone")}, set.Stages)
		if err != nil {
			t.Fatal(err)
		}
		return judgeTransactions(facts, set.Stages, set.Brokers, time.Now().Add(forgottenAfter))
	}
	expect(t, look(), OK, "")
	cluster.Fake.ControlKey(int16(kmsg.DescribeTransactions), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.Fake.KeepControl()
		return forgotten(req.(*kmsg.DescribeTransactionsRequest)), nil, true
	})
	expect(t, look(), Problem, "deliver.crm[0]|anabranch-router-a|offset 0 on")
	if err := errors.Join(writer.Flush(t.Context()), writer.EndTransaction(t.Context(), kgo.TryCommit)); err != nil {
		t.Fatal(err)
	}
	testkit.Until(t, func() bool { return look()[0].Level == OK }, "the end of the transaction to be seen")
}

// TestOffsetsThatStayPending: those of a router at work are pending too, one after
// the other.
func TestOffsetsThatStayPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t, kfake.SeedTopics(3, schemas.TopicRawEvents))
		id := cluster.Fake.TopicInfo(schemas.TopicRawEvents).TopicID
		looks := [][]int32{{0, 2}, {1, 2}}
		cluster.Fake.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			cluster.Fake.KeepControl()
			fetch := req.(*kmsg.OffsetFetchRequest)
			if !fetch.RequireStable {
				return nil, nil, false
			}
			pending := looks[0]
			looks = looks[1:]
			return unstable(fetch, id, pending), nil, true
		})
		topics := topics.New(cluster.Client(t), policy.Config{})
		got, err := stillPending(t.Context(), topics, router.Group, schemas.TopicRawEvents)
		if err != nil || !slices.Equal(got, []int32{2}) {
			t.Errorf("pending at both looks: %v, error %v, want the partition that was", got, err)
		}
	})
}

// unstable answers that offsets of raw-events are pending.
func unstable(req *kmsg.OffsetFetchRequest, id [16]byte, partitions []int32) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	topic := kmsg.NewOffsetFetchResponseGroupTopic()
	topic.Topic, topic.TopicID = schemas.TopicRawEvents, id
	for _, partition := range partitions {
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		p.Partition, p.ErrorCode = partition, kerr.UnstableOffsetCommit.Code
		topic.Partitions = append(topic.Partitions, p)
	}
	group := kmsg.NewOffsetFetchResponseGroup()
	group.Group = router.Group
	group.Topics = append(group.Topics, topic)
	resp.Groups = append(resp.Groups, group)
	return resp
}

// forgotten is the answer of a coordinator that takes transactions for complete.
func forgotten(req *kmsg.DescribeTransactionsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	for _, id := range req.TransactionalIDs {
		state := kmsg.NewDescribeTransactionsResponseTransactionState()
		state.TransactionalID, state.State, state.ProducerID = id, "CompleteCommit", 1
		resp.TransactionStates = append(resp.TransactionStates, state)
	}
	return resp
}
