package broker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
)

func TestLimitsStart(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	// Three segments of 100 bytes, filled one, two and three hours ago.
	segments := []segment{
		{base: 0, size: 100, modified: now.Add(-3 * time.Hour)},
		{base: 10, size: 100, modified: now.Add(-2 * time.Hour)},
		{base: 20, size: 100, modified: now.Add(-time.Hour)},
	}
	tests := map[string]struct {
		limits limits
		want   int64
	}{
		"none":                             {limits{-1, -1}, 0},
		"young enough":                     {limits{3 * time.Hour, -1}, 0},
		"first too old":                    {limits{150 * time.Minute, -1}, 10},
		"last stays however old":           {limits{0, -1}, 20},
		"small enough":                     {limits{-1, 300}, 0},
		"a segment's worth over":           {limits{-1, 200}, 10},
		"not less than the limit remains":  {limits{-1, 250}, 0},
		"last stays however large":         {limits{-1, 0}, 20},
		"age first, size for the rest":     {limits{150 * time.Minute, 100}, 20},
		"size first, age would keep":       {limits{24 * time.Hour, 100}, 20},
		"size would keep, age would not":   {limits{90 * time.Minute, 1 << 30}, 20},
		"both keep":                        {limits{24 * time.Hour, 1 << 30}, 0},
		"exactly the age is not above it":  {limits{2 * time.Hour, -1}, 10},
		"exactly the size is not below it": {limits{-1, 100}, 20},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := test.limits.start(segments, math.MaxInt64, now); got != test.want {
				t.Errorf("start = %d, want %d", got, test.want)
			}
		})
	}
}

// What a reader has not committed stays, however old it is and however much there is of it.
func TestLimitsStopAtTheFloor(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	segments := []segment{
		{base: 0, size: 100, modified: now.Add(-3 * time.Hour)},
		{base: 10, size: 100, modified: now.Add(-2 * time.Hour)},
		{base: 20, size: 100, modified: now.Add(-time.Hour)},
	}
	for floor, want := range map[int64]int64{0: 0, 9: 0, 10: 10, 19: 10, 20: 20, 29: 20, math.MaxInt64: 20} {
		for _, l := range []limits{{age: 0, size: -1}, {age: -1, size: 0}} {
			if got := l.start(segments, floor, now); got != want {
				t.Errorf("with floor %d and %+v the log starts at %d, want %d", floor, l, got, want)
			}
		}
	}
}

func TestLimitsOf(t *testing.T) {
	tests := map[string]struct {
		ms, bytes string
		want      limits
	}{
		"both":          {"60000", "1000", limits{time.Minute, 1000}},
		"unlimited":     {"-1", "-1", limits{-1, -1}},
		"nothing known": {"", "", limits{-1, -1}},
		"not numbers":   {"7 days", "1GB", limits{-1, -1}},
		"for ever":      {"9223372036854775807", "-1", limits{-1, -1}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := limitsOf(map[string]string{"retention.ms": test.ms, "retention.bytes": test.bytes})
			if got != test.want {
				t.Errorf("limitsOf(%q, %q) = %v, want %v", test.ms, test.bytes, got, test.want)
			}
		})
	}
}

func TestDeletes(t *testing.T) {
	for policy, want := range map[string]bool{"delete": true, "compact,delete": true, "compact": false, "": false} {
		if got := deletes(policy); got != want {
			t.Errorf("deletes(%q) = %t, want %t", policy, got, want)
		}
	}
}

// retaining opens a broker that trims its log every few milliseconds. The configuration is changed before.
func retaining(t *testing.T, dir string, change ...func(*Config)) *Broker {
	t.Helper()
	cfg := Config{DataDir: dir, Addr: "127.0.0.1:0", RetentionEvery: 5 * time.Millisecond}
	for _, change := range change {
		change(&cfg)
	}
	b, err := Open(cfg, quiet())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return b
}

// files lists the segments of partition 0 of a topic.
func files(t *testing.T, dir, topic string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "broker", "partitions", topic+"-0", "*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// fill produces ten records, each into a segment of its own.
func fill(t *testing.T, b *Broker, topic string) {
	t.Helper()
	for i := range 10 {
		produce(t, client(t, b), topic, fmt.Sprint("value ", i, strings.Repeat(" ", 200)))
	}
}

func TestRetentionFreesDiskAfterReload(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "by-size", 1, "segment.bytes", "100", "retention.bytes", "700")
	create(t, b, "by-age", 1, "segment.bytes", "100", "retention.ms", "0")
	create(t, b, "unlimited", 1, "segment.bytes", "100", "retention.ms", "-1")
	create(t, b, "compacted", 1, "segment.bytes", "100", "retention.ms", "0", "cleanup.policy", "compact")
	for _, topic := range []string{"by-size", "by-age", "unlimited", "compacted"} {
		fill(t, b, topic)
		if got := len(files(t, dir, topic)); got != 10 {
			t.Fatalf("%s has %d segments, want 10", topic, got)
		}
	}
	closed(t, b)

	b = retaining(t, dir)
	want := map[string]int{"by-size": 3, "by-age": 1, "unlimited": 10, "compacted": 10}
	eventually(t, func() error {
		got := make(map[string]int)
		for topic := range want {
			got[topic] = len(files(t, dir, topic))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return errors.New("segments left (-want +got):\n" + diff)
		}
		return nil
	})
	for topic, segments := range want {
		first, last := offsets(t, b, topic)
		if first != int64(10-segments) || last != 10 {
			t.Errorf("%s has offsets %d to %d, want %d to 10", topic, first, last, 10-segments)
		}
	}
}

// An idle topic whose records have all expired must go on where it was: offsets that begin again at 0 would let a
// group pass over new records.
func TestRetentionKeepsOffsets(t *testing.T) {
	dir := t.TempDir()
	b := retaining(t, dir)
	create(t, b, "retries", 1, "segment.bytes", "100", "retention.ms", "0")
	fill(t, b, "retries")
	commit(t, b, "retries", 10)
	eventually(t, func() error {
		if n := len(files(t, dir, "retries")); n != 1 {
			return fmt.Errorf("%d segments", n)
		}
		return nil
	})
	again := open(t, killed(t, dir))
	if _, last := offsets(t, again, "retries"); last != 10 {
		t.Errorf("after a kill the log ends at %d, want 10", last)
	}
	closed(t, again)
	again = open(t, filepath.Dir(again.logDir))
	if _, last := offsets(t, again, "retries"); last != 10 {
		t.Errorf("after a clean stop the log ends at %d, want 10", last)
	}
}

func TestRetentionSurvivesAFailedPass(t *testing.T) {
	dir := t.TempDir()
	b := retaining(t, dir)
	create(t, b, "gone", 1)
	produce(t, client(t, b), "gone", "value")
	partition := filepath.Join(dir, "broker", "partitions", "gone-0")
	// A stray file that claims to be a later segment makes the broker refuse the deletion.
	if err := os.WriteFile(filepath.Join(partition, "1000.dat"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	age := "0"
	if _, err := admin(t, b).AlterTopicConfigs(within(t), []kadm.AlterConfig{{Name: "retention.ms", Value: &age}}, "gone"); err != nil {
		t.Fatal(err)
	}
	create(t, b, "trimmed", 1, "segment.bytes", "100", "retention.ms", "0")
	fill(t, b, "trimmed")
	eventually(t, func() error {
		if n := len(files(t, dir, "trimmed")); n != 1 {
			return fmt.Errorf("%d segments", n)
		}
		return nil
	})
}
