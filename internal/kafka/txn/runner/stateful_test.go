package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// TestAStageWithState counts through kills, aborts and rebalances: each key is counted
// as often as it has come, and each number is said once. A state that were behind the
// group's offsets, or ahead of them, would say one twice or leave one out.
func TestAStageWithState(t *testing.T) {
	t.Parallel()
	countThrough(t, source)
}

// TestAStageWithTwoTopics: what both lead to is one state, which goes with the partitions
// of both.
func TestAStageWithTwoTopics(t *testing.T) {
	t.Parallel()
	countThrough(t, source, echoes)
}

func countThrough(t *testing.T, topics ...string) {
	t.Helper()
	var changes []func(*Settings)
	if len(topics) > 1 {
		changes = append(changes, ofTwo)
	}
	b := newCounting(t, testkit.Fake(t, kfake.NumBrokers(1)))
	random := rand.New(rand.NewPCG(1, 2)) // the same in each run
	refuse := b.refuseSome()
	want := make(map[string]int)
	var stopped sync.WaitGroup
	defer stopped.Wait()
	const rounds, burst = 10, 200
	for round := range rounds {
		stage, r, cable := b.counting(t, "first", "first", changes...)
		stop := start(t, r)
		other, guest, _ := b.counting(t, "guest", "", changes...)
		leave := func() {}
		if round%2 == 0 {
			leave = start(t, guest)
		}
		refuse.Store(random.Int64N(3))
		for n := range burst {
			key := fmt.Sprintf("u%d", random.IntN(25))
			want[key]++
			sent := event(key, n)
			sent.Topic = topics[random.IntN(len(topics))]
			b.client.Produce(t.Context(), sent, nil)
		}
		testkit.Until(t, func() bool { return stage.commits()+other.commits() > 0 }, "a transaction to commit")
		cable.Cut()
		leave()
		stopped.Go(stop)
	}
	if err := b.client.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, last, _ := b.counting(t, "first", "first", changes...)
	start(t, last)
	b.said(t, want)
	testkit.Until(t, func() bool { return last.Ready() == nil }, "the last one to be ready")
}

// refuseSome has the brokers refuse so many produce requests, now and then, so that
// their transactions are aborted.
func (b *bench) refuseSome() *atomic.Int64 {
	var left atomic.Int64
	random := rand.New(rand.NewPCG(3, 4)) // the same in each run
	b.Fake.ControlKey(kmsg.Produce.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		if produce := req.(*kmsg.ProduceRequest); produce.TransactionID != nil && random.IntN(4) == 0 && left.Add(-1) >= 0 {
			return refuseProduce(produce, kerr.InvalidRecord), nil, true
		}
		return nil, nil, false
	})
	return &left
}

// TestStateIsThereBeforeTheFirstRecord, however long it takes to restore.
func TestStateIsThereBeforeTheFirstRecord(t *testing.T) {
	t.Parallel()
	b := newCounting(t, testkit.Brokers(t))
	_, first, _ := b.counting(t, "first", "")
	stop := start(t, first)
	b.send(t, event("u", 1), event("u", 2))
	b.said(t, map[string]int{"u": 2})
	stop()

	stage, second, _ := b.counting(t, "second", "")
	restoring, restored := make(chan struct{}), make(chan struct{})
	stage.restoring = func(ctx context.Context) error {
		close(restoring)
		select {
		case <-restored:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
	start(t, second)
	b.send(t, event("u", 3))
	<-restoring
	if second.Ready() == nil {
		t.Error("the process is ready without its state")
	}
	b.said(t, map[string]int{"u": 2})
	close(restored)
	b.said(t, map[string]int{"u": 3})
}

// TestAnAbortDropsWhatItChanged: records that come again are counted once.
func TestAnAbortDropsWhatItChanged(t *testing.T) {
	t.Parallel()
	b := newCounting(t, testkit.Fake(t, kfake.NumBrokers(1)))
	for range 2 {
		b.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: changelog, Err: kerr.InvalidRecord})
	}
	stage, r, _ := b.counting(t, "first", "")
	start(t, r)
	b.send(t, event("u", 1), event("u", 2), event("v", 1))
	b.said(t, map[string]int{"u": 2, "v": 1})
	stage.mu.Lock()
	defer stage.mu.Unlock()
	if stage.aborted == 0 {
		t.Error("nothing was aborted")
	}
}

// TestAnOutcomeThatNobodyKnows drops what the transaction changed, whether it has
// committed or not: what is restored then tells.
func TestAnOutcomeThatNobodyKnows(t *testing.T) {
	for name, committed := range map[string]bool{"committed, and nobody was told": true, "refused": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, line := newCounting(t, testkit.Virtual(t)), new(restart)
				if committed {
					b.cutEnd(line)
				} else {
					b.Fake.ControlKey(kmsg.EndTxn.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
						return refuse(req, kerr.ProducerFenced), nil, true
					})
				}
				stage, r, _ := b.counting(t, "first", "", func(set *Settings) {
					set.Kafka = slices.Concat(set.Kafka, b.Options(), []kgo.Opt{kgo.Dialer(line.dial(b))})
				})
				start(t, r)
				b.send(t, event("u", 1), event("u", 2))
				virtual.Sleep(30 * time.Second)
				b.send(t, event("u", 3))
				b.said(t, map[string]int{"u": 3})
				stage.mu.Lock()
				defer stage.mu.Unlock()
				if stage.unknown == 0 || stage.restored <= topicConfig.Partitions {
					t.Errorf("%d outcomes were unknown, and %d partitions were restored", stage.unknown, stage.restored)
				}
			})
		})
	}
}

// TestARefusedAssignmentIsAskedForAgain: state that does not fit is none to go on with.
func TestARefusedAssignmentIsAskedForAgain(t *testing.T) {
	t.Parallel()
	b := newCounting(t, testkit.Brokers(t))
	b.send(t, event("u", 1))
	stage, r, _ := b.counting(t, "first", "")
	var asked atomic.Int64
	stage.restoring = func(context.Context) error {
		if asked.Add(1) < 3 {
			return errors.New("the state is of another offset")
		}
		return nil
	}
	start(t, r)
	b.said(t, map[string]int{"u": 1})
	if asked.Load() < 3 || r.Ready() != nil {
		t.Errorf("asked %d times, ready: %v", asked.Load(), r.Ready())
	}
}

// TestALostPartitionIsNotProcessedOn: what another member restores has what the first
// one committed, and the first has nothing of it any more.
func TestALostPartitionIsNotProcessedOn(t *testing.T) {
	t.Parallel()
	b := newCounting(t, testkit.Brokers(t))
	first, one, _ := b.counting(t, "first", "")
	start(t, one)
	want := make(map[string]int)
	send := func() {
		for i := range 30 {
			key := fmt.Sprintf("u%d", i)
			want[key]++
			b.send(t, event(key, i))
		}
		b.said(t, want)
	}
	send()
	second, two, _ := b.counting(t, "second", "")
	start(t, two)
	testkit.Until(t, func() bool { return second.holds() > 0 && first.holds()+second.holds() == topicConfig.Partitions }, "each partition to be held by one")
	send()
}

// TestEveryRevocationIsTold, though the session passes on only the first of those
// between two transactions.
func TestEveryRevocationIsTold(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Settings){"cooperative": func(*Settings) {}, "eager": ofTwo} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newCounting(t, testkit.Brokers(t))
			var all []*counter
			for _, id := range []string{"first", "second", "third"} {
				stage, r, _ := b.counting(t, id, "", change)
				start(t, r)
				all = append(all, stage)
				testkit.Until(t, func() bool { return r.Ready() == nil && stage.holds() > 0 }, "the process to have joined")
			}
			testkit.Until(t, func() bool { return all[0].holds()+all[1].holds()+all[2].holds() == topicConfig.Partitions }, "each partition to be held by one")
		})
	}
}

func (c *counter) holds() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.parts)
}

func (c *counter) commits() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.applied
}
