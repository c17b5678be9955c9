package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// swallow makes the broker leave requests of the given key without an answer,
// all of them for -1, until the result is called.
func swallow(c *kfake.Cluster, key int16) (restore func()) {
	var over atomic.Bool
	c.ControlKey(key, func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		return nil, nil, !over.Load()
	})
	return func() { over.Store(true) }
}

func wantError(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestNoAcknowledgementInTime lets one produce request vanish while the broker
// answers all others: nothing is known of its records.
func TestNoAcknowledgementInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtualStage(t, cluster.Options())
		restore := swallow(cluster.Fake, int16(kmsg.Produce))
		began := time.Now()
		wantError(t, s.Put(identities(t, 1)), errDeadline)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("answered after %v, want 10s", took)
		}
		if err := s.Ready(); err != nil {
			t.Errorf("the brokers answer, but: %v", err)
		}
		restore()
		// The client gives the connection up after another ten seconds and sends
		// the record again, under the same sequence number.
		virtual.Sleep(20 * time.Second)
		if err := s.Put(identities(t, 1)); err != nil {
			t.Errorf("after recovery: %v\n%s", err, s.log)
		}
	})
}

// TestBrokerThatHangs makes the broker deaf while a batch waits.
func TestBrokerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t)
		s := virtualStage(t, cluster.Options())
		restore := swallow(cluster.Fake, -1)
		began := time.Now()
		wantError(t, s.Put(identities(t, 1)), errNoBrokers)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("who waits was answered after %v", took)
		}
		if s.Ready() == nil {
			t.Error("ready although no broker answers")
		}
		began = time.Now()
		wantError(t, s.Put(identities(t, 1)), errNoBrokers)
		if took := time.Since(began); took != 0 {
			t.Errorf("who comes later was answered after %v", took)
		}
		restore()
		virtual.Sleep(30 * time.Second)
		if err := s.Ready(); err != nil {
			t.Errorf("after recovery: %v", err)
		}
		if err := s.Put(identities(t, 1)); err != nil {
			t.Errorf("after recovery: %v\n%s", err, s.log)
		}
	})
}

// TestBrokerThatGoesAndComesBack stops the broker and starts another one at its
// address.
func TestBrokerThatGoesAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var network kfake.VirtualNetwork
		broker := func() *kfake.Cluster {
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(network.Listen), kfake.SeedTopics(1, schemas.TopicRawEvents))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		first := broker()
		s := virtualStage(t, []kgo.Opt{kgo.SeedBrokers(first.ListenAddrs()...), kgo.Dialer(network.DialContext)})
		if err := s.Put(identities(t, 1)); err != nil {
			t.Fatal(err)
		}
		first.Close()
		began := time.Now()
		wantError(t, s.Put(identities(t, 1)), errNoBrokers)
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("answered after %v", took)
		}
		for range 1000 {
			wantError(t, s.Put(identities(t, 1)), errNoBrokers)
		}
		if left, _ := s.room.left(); left < 20_000-5 {
			t.Errorf("%d records wait for a broker that is gone", 20_000-left)
		}
		second := broker()
		defer second.Close()
		// It has another raw-events, under another id: the records that are left
		// in the client come to know it.
		virtual.Sleep(30 * time.Second)
		if err := s.Put(identities(t, 1)); err != nil {
			t.Errorf("after recovery: %v\n%s", err, s.log)
		}
		if left, _ := s.room.left(); left != 20_000 {
			t.Errorf("%d records still wait", 20_000-left)
		}
	})
}

// TestATopicThatIsDeletedIsMadeAnew has an operator delete one of the topics. The
// other one takes records all the while.
func TestATopicThatIsDeletedIsMadeAnew(t *testing.T) {
	for _, name := range []string{schemas.TopicRawEvents, schemas.TopicDeadLetters} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := testkit.Virtual(t)
				s := virtualStage(t, cluster.Options())
				if err := s.Put(mixed(t)); err != nil {
					t.Fatal(err)
				}
				deleteTopic(t, s.client.Client(), name)
				if err := s.Put(mixed(t)); err == nil {
					t.Error("stored on a topic that is gone")
				}
				virtual.Sleep(time.Minute)
				if err := s.Put(mixed(t)); err != nil {
					t.Errorf("after a minute: %v\n%s", err, s.log)
				}
			})
		})
	}
}

// TestAPartitionThatIsUnknownForAMoment has a broker disown one partition of a
// topic that is there, while the others take records: what is acknowledged is
// stored all the same, and nobody's sequence numbers are taken for a repetition.
func TestAPartitionThatIsUnknownForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := testkit.Virtual(t, kfake.SeedTopics(6, schemas.TopicRawEvents))
		s := virtualStage(t, cluster.Options())
		s.cluster = cluster
		faults := cluster.Fake.Fault(kfake.Fault{
			Topic: schemas.TopicRawEvents, Partitions: []int32{0}, Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.UnknownTopicOrPartition, Count: 5,
		})
		acknowledged := 0
		for range 3 { // of which the first meets the faults
			for user := range 40 {
				call := fmt.Sprintf(`{"batch":[{"type":"identify","userId":"user-%d"}]}`, user)
				if s.Put(NewBatch("website", events(t, call))) == nil {
					acknowledged++
				}
				virtual.Sleep(20 * time.Millisecond)
			}
		}
		if acknowledged != 3*40-1 || faults.Hits() != 5 {
			t.Errorf("%d calls acknowledged, %d faults met", acknowledged, faults.Hits())
		}
		s.stored(t, acknowledged)
	})
}

func deleteTopic(t *testing.T, client *kgo.Client, name string) {
	t.Helper()
	request := kmsg.NewPtrDeleteTopicsRequest()
	request.TopicNames = []string{name}
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = new(name)
	request.Topics = append(request.Topics, topic)
	if _, err := request.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
}
