package wstopic

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
)

func TestReadWithoutATopic(t *testing.T) {
	t.Parallel()
	state := read(t, testkit.Brokers(t))
	wstest.Equal(t, state.Snapshot, workspace.NewSnapshot(nil, nil))
	if state.Applied {
		t.Error("known to be applied")
	}
}

func TestReadAnEmptyTopic(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	c.CreateTopics(t, 1, schemas.TopicWorkspace)
	began := time.Now()
	wstest.Equal(t, read(t, c).Snapshot, workspace.NewSnapshot(nil, nil))
	if took := time.Since(began); took > 10*longPoll {
		t.Errorf("it took %v", took)
	}
}

func TestReadSkipsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	c := testkit.Brokers(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	write(t, c, record("destination/a", "{"), record("gibberish", ""), record("source/website", `{"enabled":true}`))
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))
}

// TestReadPastTheLastMarker lets the broker name an end that no record has, as
// it is where compaction removed the last of them.
func TestReadPastTheLastMarker(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	endLater(c, 5)
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))
}

// endLater makes the broker answer the next question for the end of the topic
// with an offset that lies further by n.
func endLater(c *testkit.Cluster, n int64) {
	c.Fake.ControlKey(int16(kmsg.ListOffsets), func(request kmsg.Request) (kmsg.Response, error, bool) {
		if request.(*kmsg.ListOffsetsRequest).Topics[0].Partitions[0].Timestamp != -1 {
			c.Fake.KeepControl()
			return nil, nil, false
		}
		return endAt(request, c.Fake.PartitionInfo(schemas.TopicWorkspace, 0).LastStableOffset+n), nil, true
	})
}

// endAt returns an answer to the question for the end of the topic.
func endAt(request kmsg.Request, offset int64) *kmsg.ListOffsetsResponse {
	response := request.ResponseKind().(*kmsg.ListOffsetsResponse)
	partition := kmsg.NewListOffsetsResponseTopicPartition()
	partition.Offset = offset
	topic := kmsg.NewListOffsetsResponseTopic()
	topic.Topic, topic.Partitions = schemas.TopicWorkspace, append(topic.Partitions, partition)
	response.Topics = append(response.Topics, topic)
	return response
}

func TestReadWithoutABroker(t *testing.T) {
	t.Parallel()
	_, err := Read(timeout(t), []kgo.Opt{kgo.SeedBrokers("127.0.0.1:1")})
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("Read: %v", err)
	}
}

func TestReadGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	c.Fake.ControlKey(int16(kmsg.Fetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		return nil, errors.New("the broker is gone"), true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := Read(ctx, c.Options()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Read: %v", err)
	}
}

func TestReadWithUnusableOptions(t *testing.T) {
	t.Parallel()
	if _, err := Read(t.Context(), []kgo.Opt{kgo.SeedBrokers()}); err == nil {
		t.Error("no error")
	}
}
