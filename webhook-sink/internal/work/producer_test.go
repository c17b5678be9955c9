package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

const topic = "webhook-retry.5s"

func ensures(context.Context, ...string) error { return nil }

func newProducer(t *testing.T, cluster *testkit.Cluster, ensure func(context.Context, ...string) error) *Producer {
	t.Helper()
	p, err := NewProducer(cluster.Options(), ensure, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// writeAll writes n records, some at a time, each again until it is acknowledged.
func writeAll(t *testing.T, p *Producer, n int) {
	t.Helper()
	var writers sync.WaitGroup
	for i := range n {
		virtual.Sleep(time.Millisecond)
		writers.Go(func() {
			r := &kgo.Record{Topic: topic, Key: fmt.Append(nil, i), Value: fmt.Append(nil, i)}
			for try := 0; p.Write(t.Context(), r) != nil; try++ {
				if try == 100 {
					t.Errorf("record %d was not written in %d tries", i, try)
					return
				}
				virtual.Sleep(20 * time.Millisecond)
			}
		})
	}
	writers.Wait()
}

// TestATopicThatIsUnknownForAMoment has a broker disown partitions of a topic that
// is there, while others take records: what is acknowledged is stored all the
// same, and nobody's sequence numbers are taken for a repetition.
func TestATopicThatIsUnknownForAMoment(t *testing.T) {
	for _, disowned := range []*kerr.Error{kerr.UnknownTopicID, kerr.UnknownTopicOrPartition} {
		t.Run(disowned.Message, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := testkit.Virtual(t, kfake.SeedTopics(6, topic))
				p := newProducer(t, cluster, ensures)
				defer p.Close()
				faults := cluster.Fake.Fault(kfake.Fault{Topic: topic, Partitions: []int32{0}, Keys: []kmsg.Key{kmsg.Produce}, Err: disowned, Count: 5})
				for range 3 { // of which the first meets the faults
					writeAll(t, p, 40)
				}
				if faults.Hits() != 5 {
					t.Errorf("%d faults met, want 5", faults.Hits())
				}
				if n := len(cluster.ReadAll(t, topic, 3*40)); n != 3*40 {
					t.Errorf("%d records are stored, want %d", n, 3*40)
				}
			})
		})
	}
}

func TestATopicThatIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t, kfake.SeedTopics(1, topic))
		p := newProducer(t, cluster, ensures)
		defer p.Close()
		writeAll(t, p, 10)
		if err := cluster.Fake.DeleteTopic(topic); err != nil {
			t.Fatal(err)
		}
		cluster.CreateTopics(t, 1, topic)
		writeAll(t, p, 10)
		cluster.ReadAll(t, topic, 10)
	})
}

// A topic that is missing is asked for, and one that can't be made is told of and
// fails the write.
func TestATopicThatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		asked := make(chan string, 1)
		p := newProducer(t, cluster, func(_ context.Context, topics ...string) error {
			select {
			case asked <- topics[0]:
			default:
			}
			return errors.New("not allowed")
		})
		defer p.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := p.Write(ctx, &kgo.Record{Topic: topic}); !errors.Is(err, kerr.UnknownTopicOrPartition) {
			t.Errorf("got %v, want %v", err, kerr.UnknownTopicOrPartition)
		}
		if got := <-asked; got != topic {
			t.Errorf("asked for %q", got)
		}
	})
}

// A write that waits when its context ends is let go.
func TestTheEndOfAContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t, kfake.SeedTopics(1, topic))
		p := newProducer(t, cluster, ensures)
		defer p.Close()
		cluster.Fake.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.Fake.KeepControl()
			return nil, errors.New("cut"), true
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Write(ctx, &kgo.Record{Topic: topic}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

// TestWhatIsTooLargeIsFoundAlone: records that a topic takes one by one are refused
// when they share a batch, and one among them would be refused in any case.
func TestWhatIsTooLargeIsFoundAlone(t *testing.T) {
	for name, limit := range map[string]func(*testing.T, *testkit.Cluster){
		"MESSAGE_TOO_LARGE":     limitBytes,
		"RECORD_LIST_TOO_LARGE": limitRecords,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := testkit.Virtual(t, kfake.SeedTopics(1, topic))
				limit(t, cluster)
				options := append(cluster.Options(), kgo.ProducerLinger(5*time.Millisecond), kgo.ProducerBatchCompression(kgo.NoCompression()))
				p, err := NewProducer(options, ensures, slog.New(slog.DiscardHandler))
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				refused := writeTogether(t, p, 20, 7)
				if len(refused) != 1 || !kafka.TooLarge(refused[7]) {
					t.Errorf("refused: %v, want record 7 alone, for its size", refused)
				}
				cluster.ReadAll(t, topic, 19)
			})
		})
	}
}

// writeTogether writes n records at once, of which one is large, and returns those that
// were refused.
func writeTogether(t *testing.T, p *Producer, n, large int) map[int]error {
	t.Helper()
	var mu sync.Mutex
	refused := make(map[int]error)
	var writers sync.WaitGroup
	for i := range n {
		size := 300
		if i == large {
			size = 2000
		}
		writers.Go(func() {
			if err := p.Write(t.Context(), &kgo.Record{Topic: topic, Value: make([]byte, size)}); err != nil {
				mu.Lock()
				defer mu.Unlock()
				refused[i] = err
			}
		})
	}
	writers.Wait()
	return refused
}

// limitBytes has the topic take batches of one small record.
func limitBytes(t *testing.T, cluster *testkit.Cluster) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	resource := kmsg.NewIncrementalAlterConfigsRequestResource()
	resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	config := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	config.Name, config.Value = "max.message.bytes", new("500")
	resource.Configs = append(resource.Configs, config)
	req.Resources = append(req.Resources, resource)
	resp, err := req.RequestWith(t.Context(), cluster.Client(t))
	if err != nil || resp.Resources[0].ErrorCode != 0 {
		t.Fatalf("limit %s: %v, %v", topic, resp, err)
	}
}

// limitRecords stands for a broker whose segments are too small for a batch.
func limitRecords(_ *testing.T, cluster *testkit.Cluster) {
	cluster.Fake.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: kerr.RecordListTooLarge, Count: -1,
		When: func(req kmsg.Request) bool {
			return len(req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records) > 500
		},
	})
}
