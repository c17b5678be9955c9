package wstopic

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/internal/workspace/internal/wstest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
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

// TestReadPastTheLastMarker has a topic end where no record does, as it is where
// compaction removed the last of them.
func TestReadPastTheLastMarker(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t)
	apply(t, publisher(t, c), wstest.Of("a"))
	c.EndLater(schemas.TopicWorkspace, 5)
	wstest.Equal(t, read(t, c).Snapshot, wstest.Of("a"))
}

// TestABrokerThatDoesNotKnowTheTopic is one that has just been started: it says nothing of
// what the topic holds, and an empty workspace would be put in force.
func TestABrokerThatDoesNotKnowTheTopic(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t, kfake.NumBrokers(1))
	apply(t, publisher(t, c), wstest.Of("a"))
	tail, err := newTail(c.Options(), schemas.TopicWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.cl.Close()
	fetches := c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: -1})
	if err = tail.start(timeout(t)); err != nil {
		t.Fatal(err)
	}
	lookups := c.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: schemas.TopicWorkspace, Err: kerr.UnknownTopicOrPartition, Count: -1})
	for lookups.Hits() == 0 {
		_ = tail.poll(timeout(t), func(error) {})
	}
	_ = tail.poll(timeout(t), func(error) {})
	if tail.settled() {
		t.Error("nothing was read, and that counts as all there is")
	}
	fetches.Remove()
	lookups.Remove()
	for !tail.settled() {
		_ = tail.poll(timeout(t), func(error) {})
	}
	wstest.Equal(t, tail.Snapshot(), wstest.Of("a"))
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
