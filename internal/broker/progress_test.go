package broker

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
)

// readBy has the topic "events" read by the group of the tests and by others.
func readBy(others ...string) func(*Config) {
	return func(cfg *Config) {
		cfg.Readers = func(name string) []string {
			if name != "events" {
				return nil
			}
			return append([]string{group}, others...)
		}
	}
}

// passed waits until a pass of the retention that began after now has ended: it has trimmed a topic that nobody reads.
func passed(t *testing.T, b *Broker, dir, name string) {
	t.Helper()
	create(t, b, name, 1, "segment.bytes", "100", "retention.ms", "0")
	fill(t, b, name)
	segments(t, dir, name, 1)
}

// segments waits until the topic has that many.
func segments(t *testing.T, dir, topic string, want int) {
	t.Helper()
	eventually(t, func() error {
		if n := len(files(t, dir, topic)); n != want {
			return fmt.Errorf("%s has %d segments, want %d", topic, n, want)
		}
		return nil
	})
}

// An import that outruns the router must not be deleted before it is routed, nor what waits for a receiver because a
// day has passed.
func TestRetentionKeepsWhatIsNotRead(t *testing.T) {
	for name, limit := range map[string][]string{"age": {"retention.ms", "0"}, "size": {"retention.bytes", "0"}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			b := retaining(t, dir, readBy())
			create(t, b, "events", 1, append([]string{"segment.bytes", "100"}, limit...)...)
			fill(t, b, "events")
			passed(t, b, dir, "first")
			segments(t, dir, "events", 10) // nothing was ever committed
			commit(t, b, "events", 4)
			segments(t, dir, "events", 6)
			passed(t, b, dir, "second")
			if first, last := offsets(t, b, "events"); first != 4 || last != 10 {
				t.Errorf("the log has offsets %d to %d, want 4 to 10", first, last)
			}
			commit(t, b, "events", 10)
			segments(t, dir, "events", 1)
		})
	}
}

func TestTheSlowestReaderCounts(t *testing.T) {
	dir := t.TempDir()
	b := retaining(t, dir, readBy("slow"))
	create(t, b, "events", 1, "segment.bytes", "100", "retention.ms", "0")
	fill(t, b, "events")
	commit(t, b, "events", 10)
	passed(t, b, dir, "first")
	segments(t, dir, "events", 10)
	var slow kadm.Offsets
	slow.AddOffset("events", 0, 7, -1)
	if err := admin(t, b).CommitAllOffsets(within(t), "slow", slow); err != nil {
		t.Fatal(err)
	}
	segments(t, dir, "events", 3)
}

// An offset beyond the end was committed for a topic that has since been made anew.
func TestOffsetsOfAnotherTopicReadNothing(t *testing.T) {
	dir := t.TempDir()
	b := retaining(t, dir, readBy())
	create(t, b, "events", 1, "segment.bytes", "100", "retention.ms", "0")
	fill(t, b, "events")
	commit(t, b, "events", 11)
	passed(t, b, dir, "first")
	segments(t, dir, "events", 10)
}

// What was read before a kill counts after it.
func TestProgressOutlastsAKill(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir)
	create(t, b, "events", 1, "segment.bytes", "100", "retention.ms", "0")
	fill(t, b, "events")
	commit(t, b, "events", 4)
	image := killed(t, dir)
	again := retaining(t, image, readBy())
	passed(t, again, image, "first")
	segments(t, image, "events", 6)
}
