package testkit

import (
	"strconv"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Limit has a topic refuse batches of more than so many bytes, as they are on the
// wire: compressed, with 61 bytes of their own.
func (c *Cluster) Limit(tb testing.TB, topic string, bytes int) {
	tb.Helper()
	c.alter(tb, topic, "max.message.bytes", strconv.Itoa(bytes))
}

// LimitLists has the fake refuse batches of more than so many bytes as brokers do that
// find them too large for a segment: RECORD_LIST_TOO_LARGE.
func (c *Cluster) LimitLists(topic string, partitions int32, bytes int) {
	id := c.Fake.TopicInfo(topic).TopicID
	for num := range partitions {
		c.Fake.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Partitions: []int32{num}, Err: kerr.RecordListTooLarge, Count: -1,
			When: func(req kmsg.Request) bool {
				produce, ok := req.(*kmsg.ProduceRequest)
				return ok && batchSize(produce, topic, id, num) > bytes
			},
		})
	}
}

// batchSize is what a request holds for one partition, in bytes. It names the topic or
// its id.
func batchSize(req *kmsg.ProduceRequest, topic string, id [16]byte, num int32) int {
	for _, t := range req.Topics {
		if t.Topic != topic && t.TopicID != id {
			continue
		}
		for _, p := range t.Partitions {
			if p.Partition == num {
				return len(p.Records)
			}
		}
	}
	return 0
}

// KeepTimestamps has a topic keep the time stamps that records are written with, which
// the topics of a real broker replace by its own time.
func (c *Cluster) KeepTimestamps(tb testing.TB, topic string) {
	tb.Helper()
	c.alter(tb, topic, "message.timestamp.type", "CreateTime")
}

func (c *Cluster) alter(tb testing.TB, topic, name, value string) {
	tb.Helper()
	set := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}
	answers, err := c.admin(tb).AlterTopicConfigs(tb.Context(), set, topic)
	if err == nil {
		_, err = answers.On(topic, func(r *kadm.AlterConfigsResponse) error { return r.Err })
	}
	if err != nil {
		tb.Fatalf("set %s of %s: %v", name, topic, err)
	}
}
