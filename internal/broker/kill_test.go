package broker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
)

// childDir is set in the environment of a child process: it opens a broker there and produces until it is killed.
const childDir = "ANABRANCH_TEST_BROKER_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		m.Run()
		return
	}
	if err := produceForEver(dir, os.Getenv(childDir+"_RUN"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// produceForEver prints each value when it is acknowledged.
func produceForEver(dir, run string, acknowledged io.Writer) error {
	b, err := Open(Config{DataDir: dir, Addr: "127.0.0.1:0"}, quiet())
	if err != nil {
		return err
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr()), authenticated(b), kgo.ProducerLinger(0), kgo.MaxBufferedRecords(100))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	for i := 0; ; i++ {
		value := run + "-" + strconv.Itoa(i)
		record := &kgo.Record{Topic: "events", Key: []byte(value), Value: []byte(value)}
		cl.Produce(context.Background(), record, func(_ *kgo.Record, err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				fmt.Fprintln(acknowledged, value)
			}
		})
	}
}

// produceAndKill runs a child on dir, kills it with -9 after a number of acknowledgements, and returns all it saw.
func produceAndKill(t *testing.T, dir, run string, after int) []string {
	t.Helper()
	child := exec.CommandContext(within(t), os.Args[0])
	child.Env = append(os.Environ(), childDir+"="+dir, childDir+"_RUN="+run)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var values []string
	lines := bufio.NewReader(out)
	for {
		// A line without its end was cut off with the process, and nobody could have read it.
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		values = append(values, strings.TrimSuffix(line, "\n"))
		if len(values) == after {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || child.ProcessState.Exited() {
		t.Fatalf("child ended by itself: %v", err)
	}
	return values
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 4)
	closed(t, b)

	var acknowledged []string
	for run, after := range []int{3000, 1, 1500, 700} {
		acknowledged = append(acknowledged, produceAndKill(t, dir, strconv.Itoa(run), after)...)
	}
	b = open(t, dir)
	produce(t, client(t, b, kgo.RecordPartitioner(kgo.ManualPartitioner())), "events", "end")
	stored := readAll(t, b, "events")
	for _, value := range acknowledged {
		if n := stored[value]; n != 1 {
			t.Errorf("acknowledged %s is stored %d times", value, n)
		}
	}
	t.Logf("%d acknowledged, %d stored", len(acknowledged), len(stored))
}

// readAll counts the values in all partitions of a topic, up to the ends they have now.
func readAll(t *testing.T, b *Broker, topic string) map[string]int {
	t.Helper()
	ends, err := admin(t, b).ListEndOffsets(within(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	var left int64
	for _, end := range ends.Offsets()[topic] {
		left += end.At
	}
	cl := client(t, b, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	ctx := within(t)
	values := make(map[string]int)
	for left > 0 {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d records of %s not read: %v", left, topic, err)
		}
		for _, record := range fetches.Records() {
			values[string(record.Value)]++
			left--
		}
	}
	return values
}
