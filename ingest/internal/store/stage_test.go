package store

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// stage is a store with all that a test looks at.
type stage struct {
	*Store
	cluster *testkit.Cluster
	log     *testkit.Logs
}

// watched returns a store that is watched until the test ends and is ready.
// Options are changed before it is made.
func watched(t *testing.T, cluster *testkit.Cluster, change ...func(*Options)) *stage {
	t.Helper()
	s := newStage(t, cluster.Options(), change...)
	s.cluster = cluster
	s.watch(t)
	testkit.Until(t, func() bool { return s.Ready() == nil }, "the store to be ready")
	return s
}

// virtualStage is watched for a synctest bubble.
func virtualStage(t *testing.T, options []kgo.Opt) *stage {
	t.Helper()
	s := newStage(t, options)
	s.watch(t)
	for s.Ready() != nil {
		virtual.Sleep(time.Millisecond)
	}
	return s
}

func newStage(t *testing.T, options []kgo.Opt, change ...func(*Options)) *stage {
	t.Helper()
	admin, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	log := new(testkit.Logs)
	opts := Options{
		Logger:  slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Latency: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "latency_seconds", Help: "Of a Put."}),
		Kafka:   options,
		Topics:  topics.New(admin, policy.Config{Partitions: 1, Replication: -1, RawRetention: time.Hour}),
		Timeout: 10 * time.Second, Linger: time.Millisecond, MaxRecords: 20_000, MaxBytes: 32 << 20,
	}
	for _, c := range change {
		c(&opts)
	}
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return &stage{Store: s, log: log}
}

func (s *stage) watch(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Watch(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		s.Close(context.Background())
	})
}

// stored checks that n records are on raw-events.
func (s *stage) stored(t *testing.T, n int) []*kgo.Record {
	t.Helper()
	return s.cluster.ReadAll(t, schemas.TopicRawEvents, n)
}

// identities is a batch with one call of each of n users.
func identities(t *testing.T, n int) Batch {
	t.Helper()
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"type":"identify","userId":"user-%d","messageId":"%d"}`, i, i)
	}
	return NewBatch("website", events(t, `{"batch":[`+strings.Join(calls, ",")+`]}`))
}

// events are those of a batch, all of whose calls are good.
func events(t *testing.T, body string) decode.Events {
	t.Helper()
	d := new(decode.Decoder)
	if err := d.Parse([]byte(body), ""); err != nil {
		t.Fatal(err)
	}
	rejected, err := d.Accept(decode.Terms{ReceivedAt: time.UnixMilli(0)})
	if err != nil || len(rejected) > 0 {
		t.Fatal(rejected, err)
	}
	return d.Events()
}

// blockTracks are terms on which no track call is let through.
var blockTracks = decode.Terms{
	ReceivedAt: time.UnixMilli(0),
	Review: func(c *decode.Call) *schemas.Violation {
		if c.Type() != schemas.TypeTrack {
			return nil
		}
		return &schemas.Violation{Message: fmt.Sprintf("blocked %s", c.Event())}
	},
}

// reviewed takes in a batch on those terms.
func reviewed(t *testing.T, body string) (decode.Events, decode.Blocked) {
	t.Helper()
	d := new(decode.Decoder)
	if err := d.Parse([]byte(body), ""); err != nil {
		t.Fatal(err)
	}
	rejected, err := d.Accept(blockTracks)
	if err != nil || len(rejected) > 0 {
		t.Fatal(rejected, err)
	}
	return d.Events(), d.Blocked()
}

// mixed is a batch of one call that is let through and one that is not.
func mixed(t *testing.T) Batch {
	t.Helper()
	accepted, blocked := reviewed(t, `{"batch":[{"type":"page","userId":"u","messageId":"1"},{"type":"track","event":"e","userId":"u","messageId":"2"}]}`)
	b := NewBatch("website", accepted)
	b.AddBlocked("website", blocked, time.UnixMilli(0))
	return b
}
