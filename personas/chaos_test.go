package personas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/personas/internal/changelog"
	"github.com/anabranch/anabranch/personas/internal/engine"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// cable is a network that can be cut for good: to the broker its process is as dead as
// after a kill -9.
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

// fragile is a stage on a cable of its own, whose store is in a directory; none: in
// memory.
func (b *bench) fragile(t *testing.T, id, dir string) (*running, *cable) {
	t.Helper()
	c := new(cable)
	return b.stage(t, func(cfg *Config, set *Settings) {
		if dir != "" {
			cfg.Store, cfg.DataDir = storePebble, dir
		}
		cfg.MaxRecords = 50
		set.Kafka = append(set.Kafka, kgo.Dialer(c.dial))
		set.TransactionalID = "anabranch-personas-" + id
		if id == "first" { // its place in the group is kept while it is gone
			set.InstanceID, set.Returns = id, true
		}
	}), c
}

// refuseSome has the brokers refuse so many writes of transactions, now and then.
func (b *bench) refuseSome() *atomic.Int64 {
	var left atomic.Int64
	random := rand.New(rand.NewPCG(3, 4)) // the same in each run
	b.Fake.ControlKey(kmsg.Produce.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		produce := req.(*kmsg.ProduceRequest)
		if produce.TransactionID == nil || random.IntN(4) > 0 || left.Add(-1) < 0 {
			return nil, nil, false
		}
		resp := produce.ResponseKind().(*kmsg.ProduceResponse)
		for _, topic := range produce.Topics {
			refused := kmsg.NewProduceResponseTopic()
			refused.Topic, refused.TopicID = topic.Topic, topic.TopicID
			for _, p := range topic.Partitions {
				partition := kmsg.NewProduceResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, kerr.InvalidRecord.Code
				refused.Partitions = append(refused.Partitions, partition)
			}
			resp.Topics = append(resp.Topics, refused)
		}
		return resp, nil, true
	})
	return &left
}

// TestExactlyOnce folds calls through kills, wiped stores, aborts and rebalances: the count
// of each user is told with each of its values, once and in order, and the state that
// remains is that of the calls in the log.
func TestExactlyOnce(t *testing.T) {
	t.Parallel()
	definitions := engine.Definitions{Audiences: []engine.Audience{audience("regulars", "Order", 3, 0)}, Traits: []engine.Trait{counted()}}
	b := newBench(t, testkit.Fake(t, kfake.NumBrokers(1)), definitions)
	b.begun(t)
	random := rand.New(rand.NewPCG(1, 2)) // the same in each run
	refuse := b.refuseSome()
	want := make(map[string]int)
	var stopped sync.WaitGroup
	defer stopped.Wait()
	const rounds, burst = 6, 150
	for round := range rounds {
		first, cable := b.fragile(t, "first", "")
		stop := start(t, first)
		leave := func() {}
		if round%2 == 0 {
			guest, _ := b.fragile(t, "guest", filepath.Join(t.TempDir(), "store"))
			leave = start(t, guest)
		}
		testkit.Until(t, func() bool { return first.Ready() == nil }, "the first one to be ready")
		refuse.Store(random.Int64N(3))
		for range burst {
			user := fmt.Sprintf("u%d", random.IntN(25))
			want[user]++
			b.client.Produce(t.Context(), b.track(user, "Order", time.Now()), nil)
		}
		if err := b.client.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := b.toldSoFar(t)
		testkit.Until(t, func() bool { return b.toldSoFar(t) > before }, "something to be told")
		cable.Cut()
		leave()
		stopped.Go(stop)
	}
	last, _ := b.fragile(t, "first", filepath.Join(t.TempDir(), "store"))
	start(t, last)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(last.logs)
		}
	})
	n := 0
	for _, times := range want {
		if n += times; times >= 3 {
			n++
		}
	}
	next := make(map[string]int)
	for _, change := range b.heard(t, n) {
		if change.Key == "regulars" {
			continue
		}
		if next[change.User]++; change.Value != strconv.Itoa(next[change.User]) {
			t.Fatalf("%s: %s was told where %d was due", change.User, change.Value, next[change.User])
		}
	}
	for user, times := range want {
		if next[user] != times {
			t.Errorf("%s: told %d times, want %d", user, next[user], times)
		}
	}
	testkit.Until(t, func() bool { return last.Ready() == nil }, "the last one to be ready")
	b.agree(t, &definitions)
}

// toldSoFar is about how much was told.
func (b *bench) toldSoFar(t *testing.T) (n int64) {
	t.Helper()
	extents, err := b.topics.Extents(t.Context(), schemas.TopicRawEvents)
	if err != nil {
		t.Fatal(err)
	}
	for _, extent := range extents[schemas.TopicRawEvents] {
		n += extent.Stable
	}
	return n
}

// agree checks that the changelog has the state that follows from the log.
func (b *bench) agree(t *testing.T, d *engine.Definitions) {
	t.Helper()
	c, err := engine.Compile(*d)
	if err != nil {
		t.Fatal(err)
	}
	profiles := make(map[string]*engine.Profile)
	for _, rec := range b.all(t, schemas.TopicRawEvents) {
		h, err := kafka.HeadersOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		call := engine.Call{Offset: rec.Offset}
		if err = engine.ParseCall(&call, rec.Value, &h, rec.Timestamp); err != nil {
			t.Fatal(err)
		}
		if h.Origin == schemas.OriginPersonas {
			continue
		}
		if profiles[call.UserID] == nil {
			profiles[call.UserID] = c.NewProfile()
		}
		c.Take(profiles[call.UserID], &call, rec.Timestamp, nil)
	}
	last := make(map[string][]byte)
	for _, rec := range b.all(t, schemas.TopicPersonasChangelog) {
		if !changelog.Reserved(string(rec.Key)) {
			last[string(rec.Key)] = rec.Value
		}
	}
	for user, p := range profiles {
		if !bytes.Equal(p.Append(nil), last[user]) {
			t.Errorf("state of %s:\n%q, by the log\n%q", user, last[user], p.Append(nil))
		}
	}
	if len(last) != len(profiles) {
		t.Errorf("state of %d users, want %d", len(last), len(profiles))
	}
}

// all are the committed records of a topic.
func (b *bench) all(t *testing.T, topic string) []*kgo.Record {
	t.Helper()
	extents, err := ranges.List(t.Context(), b.client, topic, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var records []*kgo.Record
	err = ranges.Read(t.Context(), b.Options(), ranges.Spans(topic, extents), ranges.Limits{}, func(_ *ranges.Span, rec *kgo.Record) error {
		records = append(records, rec)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}
