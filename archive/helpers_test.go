package archive

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

// bench is a broker and a workspace with archives, and the stages that a test runs on them.
type bench struct {
	t       *testing.T
	cluster *testkit.Cluster
	client  *kgo.Client // the test's own, which writes what the router would
	topics  *topics.Admin
	live    *workspace.Live
	sent    int
	lines   map[string]int // what was written, by line: to how many archives
}

func newBench(t *testing.T, cluster *testkit.Cluster, partitions int, destinations ...workspace.Destination) *bench {
	t.Helper()
	client := cluster.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	b := &bench{
		t: t, cluster: cluster, client: client, lines: make(map[string]int),
		topics: topics.New(client, policy.Config{Partitions: partitions, DeliverPartitions: partitions, Replication: 1, RawRetention: time.Hour, Embedded: true}),
		live:   workspace.NewLive(workspace.NewSnapshot(nil, destinations)),
	}
	b.ensure(schemas.TopicRawEvents, schemas.TopicJournal)
	for _, d := range destinations {
		b.ensure(d.Topic())
	}
	return b
}

func (b *bench) ensure(topics ...string) {
	b.t.Helper()
	if err := b.topics.Ensure(b.t.Context(), topics...); err != nil {
		b.t.Fatalf("create topics %v: %v", topics, err)
	}
}

// cold is a destination that archives to a directory.
func cold(id, directory string, maxBytes int) workspace.Destination {
	return workspace.Destination{
		ID: id, Type: workspace.TypeArchive, Name: id, Enabled: true,
		Archive: &workspace.Archive{Directory: directory, MaxBytes: workspace.Size(maxBytes), MaxAge: time.Second},
	}
}

var received = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// event is a record as the router writes it, of one of three sources and two days.
func (b *bench) event(topic string, partition int32) *kgo.Record {
	n := b.sent
	b.sent++
	taken := received.Add(time.Duration(n%2) * 24 * time.Hour)
	source := []string{"website", "app", "server"}[n%3]
	value := fmt.Sprintf(`{"type":"track","messageId":"m%06d","userId":"u%d","event":"Tested","receivedAt":%q}`, n, n%7, taken.Format(time.RFC3339))
	b.lines[value]++
	r := &kgo.Record{Topic: topic, Partition: partition, Key: fmt.Appendf(nil, "u%d", n%7), Value: []byte(value)}
	kafka.SetHeaders(r, &schemas.Headers{Source: source, Type: schemas.TypeTrack, MessageID: fmt.Sprintf("m%06d", n), Origin: schemas.OriginAPI, Received: taken})
	return r
}

// produce writes so many events to a topic, to its partitions in turns.
func (b *bench) produce(topic string, partitions, n int) {
	b.t.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = b.event(topic, int32(i%partitions))
	}
	if err := b.client.ProduceSync(b.t.Context(), records...).FirstErr(); err != nil {
		b.t.Fatalf("produce: %v", err)
	}
}

// made is a stage that was made.
type made struct {
	*Archive

	registry *prometheus.Registry
	logs     *testkit.Logs
}

func (b *bench) make(options ...func(*Config, *Settings)) *made {
	b.t.Helper()
	m := &made{registry: prometheus.NewRegistry(), logs: new(testkit.Logs)}
	cfg := Config{Timeout: 5 * time.Second}
	set := Settings{
		Logger: m.logs.Logger(), Registerer: m.registry, Workspace: b.live,
		Kafka: b.cluster.Options(), Topics: b.topics, Journal: true,
	}
	for _, option := range options {
		option(&cfg, &set)
	}
	var err error
	if m.Archive, err = New(cfg, set); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// committed is how far the group is on a topic, and the announcements.
func (b *bench) committed(topic string) map[int32]kafka.Commit {
	b.t.Helper()
	var commits map[int32]kafka.Commit
	testkit.Until(b.t, func() bool { // a topic of a moment ago may be unknown to the brokers by its id
		var err error
		commits, err = b.topics.Commits(b.t.Context(), Group, topic)
		return err == nil
	}, "the commits of "+topic)
	return commits
}

// done reports whether all of a topic is archived and committed.
func (b *bench) done(topic string) bool {
	b.t.Helper()
	ends, err := b.topics.Ends(b.t.Context(), topic)
	if err != nil {
		b.t.Fatal(err)
	}
	commits := b.committed(topic)
	for num, end := range ends[topic] {
		if end > 0 && (commits[num].Offset != end || !strings.HasSuffix(commits[num].Metadata, " to=0")) {
			return false
		}
	}
	return true
}

// archived reads all objects below a directory, by name.
func archived(tb testing.TB, root string) map[string][]byte {
	tb.Helper()
	all := make(map[string][]byte)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		name, _ := filepath.Rel(root, path)
		if _, ok := schemas.ParseArchivedName(filepath.ToSlash(name)); !ok {
			tb.Errorf("%s is no name of an object", name)
		}
		all[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		tb.Fatal(err)
	}
	return all
}

// linesOf are those of an object, as zcat has them.
func linesOf(tb testing.TB, body []byte) []string {
	tb.Helper()
	in, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil || !bytes.HasSuffix(text, []byte("\n")) {
		tb.Fatalf("%q, %v", text, err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// check compares what objects hold with what was written: each line once, in its own source's
// and day's object, in order.
func (b *bench) check(all map[string][]byte) {
	b.t.Helper()
	found := make(map[string]int)
	for name, body := range all {
		lines := linesOf(b.t, body)
		for _, line := range lines {
			found[line]++
		}
		if !slices.IsSorted(lines) {
			b.t.Errorf("%s: lines are not in the order of offsets", name)
		}
		day, _ := schemas.ParseArchivedName(name)
		if want := day.Day.Format(`"receivedAt":"2006-01-02`); !strings.Contains(lines[0], want) {
			b.t.Errorf("%s: holds %s", name, lines[0])
		}
	}
	missing, doubled, foreign := 0, 0, 0
	for line, n := range b.lines {
		missing += max(n-found[line], 0)
		doubled += max(found[line]-n, 0)
	}
	for line := range found {
		if b.lines[line] == 0 {
			foreign++
		}
	}
	if missing+doubled+foreign > 0 {
		b.t.Errorf("of %d lines %d are missing, %d doubled, %d nobody wrote", len(b.lines), missing, doubled, foreign)
	}
}

// run starts a stage, which runs until the result is called.
func (b *bench) run(m *made) (stop func()) { return testkit.Start(b.t, m.Run) }

func snapshot(destinations ...workspace.Destination) *workspace.Snapshot {
	return workspace.NewSnapshot(nil, destinations)
}

// produceTo writes some events for a destination whose topic need not be there.
func (b *bench) produceTo(d workspace.Destination) {
	b.t.Helper()
	b.ensure(d.Topic())
	b.produce(d.Topic(), 1, 20)
}

// remake deletes a topic and makes one of its name.
func (b *bench) remake(topic string) {
	b.t.Helper()
	if err := b.cluster.Fake.DeleteTopic(topic); err != nil {
		b.t.Fatal(err)
	}
	b.cluster.CreateTopics(b.t, 1, topic)
	b.client = b.cluster.Client(b.t, kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
}
