package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func TestReopenKeepsEverything(t *testing.T) {
	for _, clean := range []bool{true, false} {
		t.Run(fmt.Sprintf("clean stop %t", clean), func(t *testing.T) {
			dir := t.TempDir()
			b := open(t, dir)
			create(t, b, "events", 3, "retention.ms", "86400000")
			producer := client(t, b, kgo.RecordPartitioner(kgo.ManualPartitioner()))
			produce(t, producer, "events", "one", "two", "three")
			commit(t, b, "events", 2)

			if clean {
				closed(t, b)
			} else {
				dir = killed(t, dir)
			}
			b = open(t, dir)
			produce(t, client(t, b, kgo.RecordPartitioner(kgo.ManualPartitioner())), "events", "four")
			if diff := cmp.Diff([]string{"one", "two", "three", "four"}, readUntil(t, b, "events", "four")); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if got := committed(t, b, "events"); got != 2 {
				t.Errorf("committed offset = %d, want 2", got)
			}
			topics, err := admin(t, b).ListTopics(within(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(topics["events"].Partitions); got != 3 {
				t.Errorf("partitions = %d, want 3", got)
			}
			configs, err := admin(t, b).DescribeTopicConfigs(within(t), "events")
			if err != nil {
				t.Fatal(err)
			}
			config, err := configs.On("events", nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range config.Configs {
				if c.Key == "retention.ms" && c.MaybeValue() != "86400000" {
					t.Errorf("retention.ms = %s, want the topic's own", c.MaybeValue())
				}
			}
		})
	}
}

func TestRunServesUntilItsContextEnds(t *testing.T) {
	b := open(t, t.TempDir())
	if got := b.Name(); got != "broker" {
		t.Errorf("Name = %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- b.Run(ctx) }()
	create(t, b, "events", 1)
	if err := b.Ready(); err != nil {
		t.Errorf("Ready = %v, want nil", err)
	}

	cancel()
	if err := <-result; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if b.Ready() == nil {
		t.Error("Ready = nil after the stop")
	}
	if conn, err := net.Dial("tcp", b.Addr()); err == nil {
		conn.Close()
		t.Error("the port is still bound after the stop")
	}
	if err := b.Close(); err != nil {
		t.Errorf("Close after Run = %v, want nil", err)
	}
}

// A fetch that waits for records, a group's heartbeat and a produce must not hold a stop back.
func TestCloseDoesNotWaitForClients(t *testing.T) {
	b := open(t, t.TempDir())
	create(t, b, "events", 100)
	consumer := client(t, b, kgo.ConsumeTopics("events"), kgo.ConsumerGroup("sink"), kgo.FetchMaxWait(time.Minute))
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		consumer.PollFetches(within(t))
	}()
	producer := client(t, b)
	produce(t, producer, "events", "value")
	<-fetched

	began := time.Now()
	closed(t, b)
	if took := time.Since(began); took > time.Second {
		t.Errorf("Close took %v with clients connected, want less than a second", took)
	}
}

func TestOpenRefusesADirectoryInUse(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	_, err := Open(Config{DataDir: dir, Addr: "127.0.0.1:0"}, quiet())
	want := fmt.Sprintf("lock DATA_DIR=%s: another process (pid %d) uses it; stop that process, or set DATA_DIR to another directory", dir, os.Getpid())
	if err == nil || err.Error() != want {
		t.Errorf("second Open\n got %v\nwant %s", err, want)
	}
	closed(t, b)
	open(t, dir)
}

func TestOpenRefusesUnusableDirectories(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(locked, 0o500); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ dir, want string }{
		"a file":       {file, "use DATA_DIR=" + file + ": not a directory; expected a directory"},
		"below a file": {filepath.Join(file, "data"), "use DATA_DIR=" + file + "/data: mkdir " + file + ": not a directory; expected a directory"},
		"read-only":    {locked, "use DATA_DIR=" + locked + ": open " + locked + "/lock: permission denied; expected a directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "read-only" && os.Getuid() == 0 {
				t.Skip("root may write everywhere")
			}
			_, err := Open(Config{DataDir: test.dir, Addr: "127.0.0.1:0"}, quiet())
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("Open\n got %v\nwant %s…", err, test.want)
			}
		})
	}
}

func TestOpenRefusesAPortInUse(t *testing.T) {
	b := open(t, t.TempDir())
	dir := t.TempDir()
	_, err := Open(Config{DataDir: dir, Addr: b.Addr()}, quiet())
	want := fmt.Sprintf("listen on BROKER_ADDR=%s: address already in use: another process uses it; set BROKER_ADDR to another address", b.Addr())
	if err == nil || err.Error() != want {
		t.Errorf("Open\n got %v\nwant %s", err, want)
	}
	open(t, dir) // the failure must have given the directory back
}

func TestOpenRefusesALogThatItCannotRead(t *testing.T) {
	dir := t.TempDir()
	closed(t, open(t, dir))
	meta := filepath.Join(dir, "broker", "meta.json")
	for _, content := range []string{`{"version":1000}`, `{"version"`} {
		if err := os.WriteFile(meta, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(Config{DataDir: dir, Addr: "127.0.0.1:0"}, quiet())
		if err == nil || !strings.Contains(err.Error(), "open the log in DATA_DIR="+dir) || !strings.Contains(err.Error(), "meta.json") {
			t.Errorf("Open with %s = %v, want an error that names DATA_DIR and the file", content, err)
		}
	}
}

func TestBootIDsDiffer(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	closed(t, b)
	again := open(t, dir)
	if b.BootID() == again.BootID() || len(b.BootID()) != 16 {
		t.Errorf("BootID = %q, then %q; want two different words of 16", b.BootID(), again.BootID())
	}
}

func TestTopicsAreNotCreatedByTheWay(t *testing.T) {
	b := open(t, t.TempDir())
	producer := client(t, b, kgo.UnknownTopicRetries(0), kgo.AllowAutoTopicCreation())
	err := producer.ProduceSync(within(t), &kgo.Record{Topic: "misspelt", Value: []byte("x")}).FirstErr()
	if !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("produce to a topic that does not exist = %v, want %v", err, kerr.UnknownTopicOrPartition)
	}
}

func TestLargeRecordsFit(t *testing.T) {
	b := open(t, t.TempDir())
	create(t, b, "events", 1)
	producer := client(t, b, kgo.ProducerBatchMaxBytes(8<<20), kgo.ProducerBatchCompression(kgo.NoCompression()))
	for size, want := range map[int]error{maxMessageBytes - 1024: nil, maxMessageBytes + 1: kerr.MessageTooLarge} {
		err := producer.ProduceSync(within(t), &kgo.Record{Topic: "events", Value: make([]byte, size)}).FirstErr()
		if !errors.Is(err, want) {
			t.Errorf("produce of %d bytes = %v, want %v", size, err, want)
		}
	}
}

func TestGroupsMayHaveShortSessions(t *testing.T) {
	b := open(t, t.TempDir())
	create(t, b, "events", 1)
	produce(t, client(t, b), "events", "value")
	consumer := client(t, b, kgo.ConsumeTopics("events"), kgo.ConsumerGroup("sink"), kgo.SessionTimeout(200*time.Millisecond),
		kgo.HeartbeatInterval(50*time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err := consumer.PollFetches(within(t)).Err(); err != nil {
		t.Errorf("poll with a session of 200 ms: %v", err)
	}
}
