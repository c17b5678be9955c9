package writes

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// sized are writes of so many bytes each, as batches count them.
func sized(bytes ...int) []write {
	writes := make([]write, len(bytes))
	for i, n := range bytes {
		from := &kgo.Record{Topic: schemas.TopicRawEvents, Offset: int64(i)}
		writes[i] = write{from, &kgo.Record{Value: make([]byte, n-recordOverhead)}}
	}
	return writes
}

func TestPortion(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		queue []write
		limit int
		want  int
	}{
		"all of them":            {sized(100, 100), 200, 2},
		"as many as fit":         {sized(100, 100, 100), 299, 2},
		"a large one goes alone": {sized(500, 100), 200, 1},
		"and not behind others":  {sized(100, 500), 200, 1},
		"nothing fits":           {sized(100), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := portion(c.queue, c.limit); got != c.want {
				t.Errorf("portion = %d, want %d", got, c.want)
			}
		})
	}
}

// TestCulprits: a record is to blame where it was refused by itself, and of several
// it is known only that they were too much together.
func TestCulprits(t *testing.T) {
	t.Parallel()
	alone, crowded := culprits(map[partition][]write{
		{"deliver.crm", 0}:  sized(5000),
		{"deliver.lake", 0}: sized(100, 200),
		{"deliver.lake", 1}: sized(100, 100),
	})
	want := []refusal{{"deliver.crm", schemas.Position{Topic: schemas.TopicRawEvents}}}
	if diff := cmp.Diff(want, alone, cmp.AllowUnexported(refusal{})); diff != "" {
		t.Errorf("alone (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"deliver.lake": 200}, crowded); diff != "" {
		t.Errorf("crowded (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := make(limits)
	if _, known := l.of("t", now); known {
		t.Error("a limit is known of a topic that refused nothing")
	}
	for _, step := range []struct{ refused, want int }{{50 << 20, largestBatch / 2}, {10_000, 5_000}, {20_000, 5_000}} {
		if got := l.lower("t", step.refused, now); got != step.want {
			t.Errorf("behind a batch of %d: %d, want %d", step.refused, got, step.want)
		}
	}
	if _, known := l.of("t", now.Add(limitHolds)); known {
		t.Error("the limit is kept for ever")
	}
}

func TestStrikes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at   []time.Duration
		want bool
	}{
		"twice":                            {[]time.Duration{0, time.Minute}, false},
		"three times in a moment":          {[]time.Duration{0, 1, 2}, false},
		"for longer than a broker is away": {[]time.Duration{0, 5 * time.Second, 10 * time.Second}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := make(Strikes)
			got := false
			for _, at := range c.at {
				got = s.out("t", now.Add(at), 10*time.Second)
			}
			if got != c.want {
				t.Errorf("out = %t, want %t", got, c.want)
			}
		})
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		topics map[string]progress
		want   []string
	}{
		"one of several":               {map[string]progress{"a": {acked: 2}, "b": {open: 1}}, []string{"b"}},
		"all alike: the brokers":       {map[string]progress{"a": {open: 2}, "b": {open: 1}}, nil},
		"slow, and yet it comes":       {map[string]progress{"a": {acked: 2}, "b": {open: 1, acked: 1}}, nil},
		"there was nothing but itself": {map[string]progress{"b": {open: 1}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, unanswered(c.topics)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
