package broker

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// patience bounds every wait of a test. It is only ever reached by a test that fails.
const patience = 30 * time.Second

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// open opens a broker on a port of its own. It is closed at the end of the test, or before by the test.
func open(t *testing.T, dir string) *Broker {
	t.Helper()
	b, err := Open(Config{DataDir: dir, Addr: "127.0.0.1:0"}, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, b) })
	return b
}

func closed(t *testing.T, b *Broker) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// killed returns a directory that looks as dir would after a kill -9 at this moment: what the broker has handed to
// the kernel, and nothing of what it would save at a stop. The broker must be idle.
func killed(t *testing.T, dir string) string {
	t.Helper()
	image := t.TempDir()
	if err := os.CopyFS(image, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return image
}

func client(t *testing.T, b *Broker, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(options, kgo.SeedBrokers(b.Addr()), authenticated(b), kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.DisableClientMetrics())...) // their last push takes a second when the broker has gone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// authenticated is what a client of the broker needs beside its address.
func authenticated(b *Broker) kgo.Opt {
	return kgo.SASL(scram.Auth{User: User, Pass: b.Password().Reveal()}.AsSha256Mechanism())
}

func admin(t *testing.T, b *Broker) *kadm.Client {
	t.Helper()
	return kadm.NewClient(client(t, b))
}

// create creates a topic with the given configuration: name, value, name, value.
func create(t *testing.T, b *Broker, topic string, partitions int32, config ...string) {
	t.Helper()
	configs := make(map[string]*string)
	for pair := range slices.Chunk(config, 2) {
		configs[pair[0]] = &pair[1]
	}
	if _, err := admin(t, b).CreateTopic(within(t), partitions, 1, configs, topic); err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// produce appends values to partition 0 of a topic, each in a batch of its own, and waits for the acknowledgements.
func produce(t *testing.T, cl *kgo.Client, topic string, values ...string) {
	t.Helper()
	for _, value := range values {
		record := &kgo.Record{Topic: topic, Key: []byte("key"), Value: []byte(value)}
		if err := cl.ProduceSync(within(t), record).FirstErr(); err != nil {
			t.Fatalf("produce %q: %v", value, err)
		}
	}
}

// readUntil reads the committed records of a topic from its start until the value last.
func readUntil(t *testing.T, b *Broker, topic, last string) []string {
	t.Helper()
	cl := client(t, b, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(50*time.Millisecond))
	defer cl.Close()
	ctx := within(t)
	var values []string
	for !slices.Contains(values, last) {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("read %s until %q: %v; read so far: %q", topic, last, err, values)
		}
		for _, record := range fetches.Records() {
			values = append(values, string(record.Value))
		}
	}
	return values
}

// offsets returns where partition 0 of a topic starts and ends.
func offsets(t *testing.T, b *Broker, topic string) (start, end int64) {
	t.Helper()
	starts, err := admin(t, b).ListStartOffsets(within(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	ends, err := admin(t, b).ListEndOffsets(within(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := starts.Lookup(topic, 0)
	last, _ := ends.Lookup(topic, 0)
	if err := errors.Join(first.Err, last.Err); err != nil {
		t.Fatal(err)
	}
	return first.Offset, last.Offset
}

// group is the consumer group of the tests.
const group = "router"

func commit(t *testing.T, b *Broker, topic string, offset int64) {
	t.Helper()
	var offsets kadm.Offsets
	offsets.AddOffset(topic, 0, offset, -1)
	if err := admin(t, b).CommitAllOffsets(within(t), group, offsets); err != nil {
		t.Fatal(err)
	}
}

func committed(t *testing.T, b *Broker, topic string) int64 {
	t.Helper()
	offsets, err := admin(t, b).FetchOffsets(within(t), group)
	if err != nil {
		t.Fatal(err)
	}
	offset, ok := offsets.Lookup(topic, 0)
	if !ok {
		return -1
	}
	return offset.At
}

// eventually waits until check returns nil.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	ctx := within(t)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("still: %v", err)
		}
	}
}
