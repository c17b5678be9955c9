package topics

import (
	"encoding/binary"
	"hash/crc32"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// Where the fields of a record batch stand.
const (
	batchSum   = 17
	batchFirst = 27
	batchMax   = 35
)

// kafka4 is a broker that treats the time of records as Apache Kafka 4 does: on a
// topic that goes by its own clock it puts that in, and on others it refuses records
// that are more than an hour ahead.
func kafka4(t *testing.T) *testkit.Cluster {
	t.Helper()
	v := kversion.Stable()
	v.SetMaxKeyVersion(int16(kmsg.Produce), 12) // later ones have no names of topics
	c := testkit.Brokers(t, kfake.NumBrokers(1), kfake.MaxVersions(v))
	if c.Fake == nil {
		return c // which is one
	}
	own := make(map[string]bool)
	c.Fake.ControlKey(int16(kmsg.CreateTopics), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		for _, topic := range req.(*kmsg.CreateTopicsRequest).Topics {
			for _, config := range topic.Configs {
				own[topic.Topic] = own[topic.Topic] || config.Name == policy.TimestampType && *config.Value == "LogAppendTime"
			}
		}
		return nil, nil, false
	})
	c.Fake.ControlKey(int16(kmsg.Produce), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		req := kreq.(*kmsg.ProduceRequest)
		for _, topic := range req.Topics {
			for _, p := range topic.Partitions {
				latest := time.UnixMilli(int64(binary.BigEndian.Uint64(p.Records[batchMax:])))
				switch {
				case own[topic.Topic]:
					now := uint64(time.Now().UnixMilli())
					binary.BigEndian.PutUint64(p.Records[batchFirst:], now)
					binary.BigEndian.PutUint64(p.Records[batchMax:], now)
					sum := crc32.Checksum(p.Records[batchSum+4:], crc32.MakeTable(crc32.Castagnoli))
					binary.BigEndian.PutUint32(p.Records[batchSum:], sum)
				case time.Until(latest) > time.Hour:
					return refusal(req, kerr.InvalidTimestamp), nil, true
				}
			}
		}
		return nil, nil, false
	})
	return c
}

// refusal answers all of a produce request with an error.
func refusal(req *kmsg.ProduceRequest, err *kerr.Error) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range req.Topics {
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic = topic.Topic
		for _, p := range topic.Partitions {
			part := kmsg.NewProduceResponseTopicPartition()
			part.Partition, part.ErrorCode = p.Partition, err.Code
			answer.Partitions = append(answer.Partitions, part)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp
}

// TestAClockThatIsAheadStopsNothing: a stage whose clock is two hours ahead can write
// to each topic, and when its records were written is what the broker says. So a
// listing of dead letters since a time finds them.
func TestAClockThatIsAheadStopsNothing(t *testing.T) {
	t.Parallel()
	c := kafka4(t)
	cl := c.Client(t)
	topics := New(cl, topicConfig)
	if err := topics.Ensure(t.Context(), everyTopic()...); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for _, topic := range everyTopic() {
		ahead := &kgo.Record{Topic: topic, Key: []byte("u1"), Value: []byte("{}"), Timestamp: began.Add(2 * time.Hour)}
		if err := cl.ProduceSync(t.Context(), ahead).FirstErr(); err != nil {
			t.Errorf("write to %s: %v", topic, err)
			continue
		}
		if got := c.ReadAll(t, topic, 1)[0].Timestamp; got.Sub(began).Abs() > time.Hour {
			t.Errorf("a record of %s was written at %s, now is %s", topic, got, began)
		}
	}
	for since, want := range map[time.Duration]int64{-time.Minute: 1, time.Hour: 0} {
		held, err := ranges.List(t.Context(), cl, schemas.TopicDeadLetters, began.Add(since))
		found := int64(0)
		for _, r := range held {
			found += r.End - r.Start
		}
		if err != nil || found != want {
			t.Errorf("%d dead letters since %s from now, expected %d (%v)", found, since, want, err)
		}
	}
}

// TestBrokersThatLackASetting get topics without it, and none of ours is left out with
// it.
func TestBrokersThatLackASetting(t *testing.T) {
	t.Parallel()
	for _, lacking := range []string{policy.IndexBytes, policy.TimestampType} {
		c := testkit.Fake(t)
		c.Fake.ControlKey(int16(kmsg.CreateTopics), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			c.Fake.KeepControl()
			req := kreq.(*kmsg.CreateTopicsRequest)
			resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
			unknown := false
			for _, topic := range req.Topics {
				answer := kmsg.NewCreateTopicsResponseTopic()
				answer.Topic, answer.ErrorCode = topic.Topic, kerr.InvalidConfig.Code
				resp.Topics = append(resp.Topics, answer)
				for _, config := range topic.Configs {
					unknown = unknown || config.Name == lacking
				}
			}
			return resp, nil, unknown
		})
		cl := c.Client(t)
		if err := New(cl, topicConfig).Ensure(t.Context(), everyTopic()...); err != nil {
			t.Errorf("brokers without %s: %v", lacking, err)
			continue
		}
		configs, err := kadm.NewClient(cl).DescribeTopicConfigs(t.Context(), schemas.DeliverTopic("crm"))
		if err != nil {
			t.Fatal(err)
		}
		if got := config(t, configs, schemas.DeliverTopic("crm"), policy.RetentionMs); got != "604800000" {
			t.Errorf("brokers without %s: retention.ms=%s", lacking, got)
		}
		if got := config(t, configs, schemas.DeliverTopic("crm"), policy.TimestampType); got == "LogAppendTime" != (lacking == policy.IndexBytes) {
			t.Errorf("brokers without %s: message.timestamp.type=%s", lacking, got)
		}
	}
}
