package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/test/testkit"
)

// cable is what a process hangs on.
type cable = testkit.Cable

// fragile returns a runner on a cable of its own. A static member keeps its
// place in the group for a while when it is gone, another frees it as it leaves.
func (b *bench) fragile(t *testing.T, id, static string, changes ...func(*Settings)) (*running, *cable) {
	t.Helper()
	change, c := onCable(id, static)
	return b.runner(t, append(changes, change)...), c
}

// onCable puts a process on a cable of its own, with a name.
func onCable(id, static string) (func(*Settings), *cable) {
	c := new(cable)
	return func(set *Settings) {
		set.Log = slog.New(slog.DiscardHandler)
		set.Kafka = append(set.Kafka, kgo.Dialer(c.Dial))
		set.MaxRecords, set.TransactionalID, set.InstanceID = 50, "anabranch-copier-"+id, static
	}, c
}

// TestExactlyOnceAcrossCutsAndRebalances cuts one router off again and again,
// each time in the midst of its work, while another joins and leaves.
func TestExactlyOnceAcrossCutsAndRebalances(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	const rounds, burst = 12, 400
	sent := 0
	var stopped sync.WaitGroup
	defer stopped.Wait()
	for round := range rounds {
		r, cable := b.fragile(t, "first", "first")
		stop := start(t, r)
		guest, _ := b.fragile(t, "guest", "")
		leave := func() {}
		if round%2 == 0 {
			leave = start(t, guest)
		}
		for range burst {
			sent++
			b.client.Produce(t.Context(), event(fmt.Sprintf("u%d", sent%37), sent), nil)
		}
		routedSome := func() bool { return r.done.Load()+guest.done.Load() > 0 }
		testkit.Until(t, routedSome, "a transaction to commit")
		cable.Cut()
		leave()
		// The cut router needs its whole grace to give up; the next one does not
		// wait for that.
		stopped.Go(stop)
	}
	if err := b.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, _ := b.fragile(t, "first", "first")
	start(t, last)

	for _, topic := range []string{crm, lake} {
		seen := map[string]bool{}
		for _, rec := range b.ReadAll(t, topic, sent) {
			seen[string(rec.Value)] = true
		}
		if len(seen) != sent {
			t.Errorf("%s holds %d different events of %d: some are doubled and some are lost", topic, len(seen), sent)
		}
	}
}

// TestFailedWriteIsRoutedAgain lets the broker fail the first writes of a
// transaction in ways that must neither lose nor double an event.
func TestFailedWriteIsRoutedAgain(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]*kerr.Error{
		"refused for good": kerr.InvalidRecord,
		"no leader":        kerr.NotLeaderForPartition,
		"too few replicas": kerr.NotEnoughReplicasAfterAppend,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := testkit.Fake(t, kfake.NumBrokers(1))
			b := newBench(t, c)
			b.send(t, event("u", 1), event("u", 2))
			var failures int
			c.Fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
				c.Fake.KeepControl()
				if failures == 2 {
					return nil, nil, false
				}
				failures++
				return refuseProduce(req.(*kmsg.ProduceRequest), code), nil, true
			})
			r := b.runner(t)
			start(t, r)
			for _, topic := range []string{crm, lake} {
				b.ReadAll(t, topic, 2)
			}
			// What was aborted was not counted.
			testkit.Until(t, func() bool { return r.done.Load() == 2 }, "two events to be counted")
		})
	}
}

// TestAbortedEventsAreNotRouted: what a transaction wrote and took back was
// never said.
func TestAbortedEventsAreNotRouted(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	writer := b.Client(t, kgo.TransactionalID("anabranch-test-writer"))
	for n, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
		if err := writer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := writer.ProduceSync(t.Context(), event("u", n)).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := writer.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	start(t, b.runner(t))
	if got := b.ReadAll(t, crm, 1)[0]; !strings.Contains(string(got.Value), `"e1"`) {
		t.Errorf("routed %s, want the event that was committed", got.Value)
	}
}

// TestATopicThatIsMadeAnew: somebody deletes an output, with the
// runner running.
func TestATopicThatIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	start(t, b.runner(t))
	b.send(t, event("u", 1))
	b.ReadAll(t, crm, 1)
	if err := b.Fake.DeleteTopic(crm); err != nil {
		t.Fatal(err)
	}
	b.CreateTopics(t, 2, crm)
	b.send(t, event("u", 2))
	b.ReadAll(t, crm, 1)
	b.ReadAll(t, lake, 2)
}

func refuseProduce(req *kmsg.ProduceRequest, code *kerr.Error) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ProduceResponse)
	for _, t := range req.Topics {
		rt := kmsg.NewProduceResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewProduceResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code.Code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// TestTwoRoutersWithOneIDGiveUp: both name the setting that tells them apart.
func TestTwoRoutersWithOneIDGiveUp(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	gaveUp := make(chan error, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 2 {
		r, _ := b.fragile(t, "same", "same")
		go func() { gaveUp <- r.Run(ctx) }()
	}
	select {
	case err := <-gaveUp:
		if !kafka.Fenced(err) {
			t.Errorf("Run returned %v, want the fencing and INSTANCE_ID", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("two routers fence each other for ever")
	}
	cancel()
	<-gaveUp
}

// TestAPredecessorsTransactionIsEndedAtOnce: a router that died between its last
// write and the end of its transaction must not cost the next one the whole
// transaction timeout.
func TestAPredecessorsTransactionIsEndedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)))
	first, cable := b.fragile(t, "same", "same")
	died := make(chan struct{})
	b.Fake.ControlKey(int16(kmsg.EndTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
		cable.Cut()
		close(died)
		return nil, errors.New("never answered"), true
	})
	b.send(t, event("u", 1))
	stop := start(t, first)
	<-died
	began := time.Now()
	second, _ := b.fragile(t, "same", "same")
	start(t, second)
	b.ReadAll(t, crm, 1)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the event was routed after %s: the predecessor's transaction was waited for", took)
	}
	stop()
}

// TestAStopFinishesTheTransactionInHand instead of throwing it away.
func TestAStopFinishesTheTransactionInHand(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1), kfake.SleepOutOfOrder()))
	b.send(t, event("u", 1))
	inHand, stopping := make(chan struct{}), make(chan struct{})
	var first sync.Once
	b.Fake.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		first.Do(func() {
			close(inHand)
			b.Fake.SleepControl(func() { <-stopping })
		})
		return nil, nil, false
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	r := b.runner(t)
	go func() { done <- r.Run(ctx) }()
	<-inHand
	cancel()
	close(stopping)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	b.ReadAll(t, crm, 1)
	b.ReadAll(t, lake, 1)
}
