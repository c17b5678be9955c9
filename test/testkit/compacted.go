package testkit

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// EndLater has partition 0 of a topic end n offsets behind its last record, as one does
// from whose end compaction has taken records. Nothing may be written to it any more.
func (c *Cluster) EndLater(topic string, n int64) {
	last := c.Fake.PartitionInfo(topic, 0).LastStableOffset
	c.Fake.ControlKey(kmsg.ListOffsets.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		asked := req.(*kmsg.ListOffsetsRequest).Topics[0]
		if asked.Topic != topic || asked.Partitions[0].Timestamp != -1 {
			return nil, nil, false
		}
		answer := kmsg.NewListOffsetsResponseTopicPartition()
		answer.Offset = last + n
		resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
		resp.Topics = []kmsg.ListOffsetsResponseTopic{{Topic: topic, Partitions: []kmsg.ListOffsetsResponseTopicPartition{answer}}}
		return resp, nil, true
	})
	c.Fake.ControlKey(kmsg.Fetch.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		fetch := req.(*kmsg.FetchRequest)
		if len(fetch.Topics) == 0 || fetch.Topics[0].Partitions[0].FetchOffset < last {
			return nil, nil, false
		}
		// A broker holds a fetch that finds nothing.
		c.Fake.SleepControl(func() { <-time.After(time.Duration(fetch.MaxWaitMillis) * time.Millisecond) })
		answer := kmsg.NewFetchResponseTopicPartition()
		answer.HighWatermark, answer.LastStableOffset = last+n, last+n
		asked := fetch.Topics[0]
		resp := req.ResponseKind().(*kmsg.FetchResponse)
		resp.Topics = []kmsg.FetchResponseTopic{{Topic: asked.Topic, TopicID: asked.TopicID, Partitions: []kmsg.FetchResponseTopicPartition{answer}}}
		return resp, nil, true
	})
}
