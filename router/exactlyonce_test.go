package router

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/testkit"
	"github.com/anabranch/anabranch/schemas"
)

// cable is a network that can be cut for good: to the broker, its router is as
// dead as after a kill -9.
type cable struct {
	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (c *cable) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return nil, errors.New("cable is cut")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		c.conns = append(c.conns, conn)
	}
	return conn, err
}

func (c *cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

// fragile returns a router on a cable of its own. A static member keeps its
// place in the group for a while when it is gone, another frees it as it leaves.
func (b *bench) fragile(t *testing.T, id, static string) (*Router, *cable) {
	t.Helper()
	c := new(cable)
	options, err := kafka.Config{Brokers: b.Addrs}.Options(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{MaxRecords: 50, TransactionTimeout: 10 * time.Second}, Settings{
		Logger:          slog.New(slog.DiscardHandler),
		Registerer:      prometheus.NewRegistry(),
		Workspace:       b.live,
		Kafka:           append(options, kgo.Dialer(c.dial)),
		Topics:          b.topics,
		TransactionalID: "anabranch-router-" + id,
		InstanceID:      static,
		Returns:         true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r, c
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
			b.client.Produce(t.Context(), event(fmt.Sprintf("u%d", sent%37), sent, schemas.Headers{Source: "web"}), nil)
		}
		routedSome := func() bool { return counterSum(r)+counterSum(guest) > 0 }
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

	for _, id := range []string{"crm", "lake"} {
		seen := map[string]bool{}
		for _, rec := range b.ReadAll(t, schemas.DeliverTopic(id), sent) {
			seen[string(rec.Value)] = true
		}
		if len(seen) != sent {
			t.Errorf("%s holds %d different events of %d: some are doubled and some are lost", id, len(seen), sent)
		}
	}
}

func counterSum(r *Router) float64 {
	var sum float64
	for _, id := range []string{"crm", "lake"} {
		sum += testutil.ToFloat64(r.metrics.events.WithLabelValues(id, string(routed)))
	}
	return sum
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
			b.send(t, event("u", 1, schemas.Headers{Source: "web"}), event("u", 2, schemas.Headers{Source: "web"}))
			var failures int
			c.Fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
				c.Fake.KeepControl()
				if failures == 2 {
					return nil, nil, false
				}
				failures++
				return refuseProduce(req.(*kmsg.ProduceRequest), code), nil, true
			})
			r := b.router(t)
			start(t, r)
			for _, id := range []string{"crm", "lake"} {
				b.ReadAll(t, schemas.DeliverTopic(id), 2)
			}
			// What was aborted was not counted.
			counts(t, r, map[string]float64{"crm routed": 2, "lake routed": 2})
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
		if err := writer.ProduceSync(t.Context(), event("u", n, schemas.Headers{Source: "web"})).FirstErr(); err != nil {
			t.Fatal(err)
		}
		if err := writer.EndTransaction(t.Context(), end); err != nil {
			t.Fatal(err)
		}
	}
	start(t, b.router(t))
	if got := b.ReadAll(t, schemas.DeliverTopic("crm"), 1)[0]; !strings.Contains(string(got.Value), `"e1"`) {
		t.Errorf("routed %s, want the event that was committed", got.Value)
	}
}

// TestATopicThatIsMadeAnew: somebody deletes a destination's topic, with the
// router running.
func TestATopicThatIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	start(t, b.router(t))
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
	if err := b.Fake.DeleteTopic(schemas.DeliverTopic("crm")); err != nil {
		t.Fatal(err)
	}
	b.CreateTopics(t, 2, schemas.DeliverTopic("crm"))
	b.send(t, event("u", 2, schemas.Headers{Source: "web"}))
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
	b.ReadAll(t, schemas.DeliverTopic("lake"), 2)
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

// TestTooLargeForATopic: what one topic refuses must not keep the transaction
// from ever ending, nor cost another destination the event.
func TestTooLargeForATopic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limited   []string
		reference bool
	}{
		"kept whole in dead-letters":         {[]string{schemas.DeliverTopic("crm")}, false},
		"too large for dead-letters as well": {[]string{schemas.DeliverTopic("crm"), schemas.TopicDeadLetters}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t))
			for _, topic := range c.limited {
				setMaxMessageBytes(t, b, topic, "1000")
			}
			large := event("u", 1, schemas.Headers{Source: "web"})
			large.Value = fmt.Appendf(nil, `{"type":"track","pad":%q}`, incompressible(1500))
			b.send(t, large, event("u", 2, schemas.Headers{Source: "web"}))
			start(t, b.router(t))

			b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
			b.ReadAll(t, schemas.DeliverTopic("lake"), 2)
			rec := b.ReadAll(t, schemas.TopicDeadLetters, 1)[0]
			h, err := kafka.HeadersOf(rec)
			if err != nil {
				t.Fatal(err)
			}
			if h.Reason != schemas.ReasonRecordTooLarge || h.Destination != "crm" || h.From.Topic != schemas.TopicRawEvents {
				t.Errorf("dead letter: reason %q, destination %q, from %+v", h.Reason, h.Destination, h.From)
			}
			if h.Reference != c.reference || (len(rec.Value) == 0) != c.reference {
				t.Errorf("dead letter: reference %v with %d bytes, want %v", h.Reference, len(rec.Value), c.reference)
			}
		})
	}
}

// incompressible returns text that stays large in a compressed batch.
func incompressible(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(rand.Text())
	}
	return b.String()
}

func setMaxMessageBytes(t *testing.T, b *bench, topic, size string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeTopic, topic
	cfg := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	cfg.Name, cfg.Value = "max.message.bytes", &size
	res.Configs = append(res.Configs, cfg)
	req.Resources = append(req.Resources, res)
	if _, err := req.RequestWith(t.Context(), b.client); err != nil {
		t.Fatal(err)
	}
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
		if !fenced(err) {
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
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
	stop := start(t, first)
	<-died
	began := time.Now()
	second, _ := b.fragile(t, "same", "same")
	start(t, second)
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the event was routed after %s: the predecessor's transaction was waited for", took)
	}
	stop()
}

// TestAStopFinishesTheTransactionInHand instead of throwing it away.
func TestAStopFinishesTheTransactionInHand(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1), kfake.SleepOutOfOrder()))
	b.send(t, event("u", 1, schemas.Headers{Source: "web"}))
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
	r := b.router(t)
	go func() { done <- r.Run(ctx) }()
	<-inHand
	cancel()
	close(stopping)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	b.ReadAll(t, schemas.DeliverTopic("crm"), 1)
	b.ReadAll(t, schemas.DeliverTopic("lake"), 1)
}
