package testkit

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Leaderless takes the leader of a partition away, as the death of the only broker
// that has a replica does: brokers say so, and take nothing for it. The fake's other
// topics stay as they are at the call until the result brings the leader back.
func (c *Cluster) Leaderless(tb testing.TB, topic string, num int32) (restore func()) {
	tb.Helper()
	before, err := kmsg.NewPtrMetadataRequest().RequestWith(tb.Context(), c.Client(tb))
	if err != nil {
		tb.Fatalf("ask for metadata: %v", err)
	}
	for i := range before.Topics {
		for j := range before.Topics[i].Partitions {
			if p := &before.Topics[i].Partitions[j]; *before.Topics[i].Topic == topic && p.Partition == num {
				p.Leader, p.ErrorCode = -1, kerr.LeaderNotAvailable.Code
			}
		}
	}
	var restored atomic.Bool
	c.Fake.ControlKey(kmsg.Metadata.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		if restored.Load() {
			c.Fake.DropControl()
			return nil, nil, false
		}
		c.Fake.KeepControl()
		return metadata(req.(*kmsg.MetadataRequest), before), nil, true
	})
	refused := c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Partitions: []int32{num}, Err: kerr.NotLeaderForPartition, Count: -1})
	return func() {
		restored.Store(true)
		refused.Remove()
	}
}

// metadata answers a request from an answer for all topics.
func metadata(req *kmsg.MetadataRequest, all *kmsg.MetadataResponse) *kmsg.MetadataResponse {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.Brokers, resp.ClusterID, resp.ControllerID = all.Brokers, all.ClusterID, all.ControllerID
	if req.Topics == nil {
		resp.Topics = all.Topics
		return resp
	}
	for _, asked := range req.Topics {
		i := slices.IndexFunc(all.Topics, func(t kmsg.MetadataResponseTopic) bool {
			return t.TopicID == asked.TopicID || asked.Topic != nil && *asked.Topic == *t.Topic
		})
		if i >= 0 {
			resp.Topics = append(resp.Topics, all.Topics[i])
			continue
		}
		unknown := kmsg.NewMetadataResponseTopic()
		unknown.Topic, unknown.TopicID, unknown.ErrorCode = asked.Topic, asked.TopicID, kerr.UnknownTopicOrPartition.Code
		resp.Topics = append(resp.Topics, unknown)
	}
	return resp
}
