package deadletters

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func letterAt(partition int32, offset int64, written time.Time) *Letter {
	return &Letter{ID: ID{partition, offset}, Record: &kgo.Record{Partition: partition, Offset: offset, Timestamp: written}}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	written := time.UnixMilli(1_800_000_000_000).UTC()
	m := make(marks)
	for _, c := range []struct {
		letter *Letter
		after  time.Duration
	}{
		{letterAt(0, 7, written), 3 * time.Hour},
		{letterAt(0, 5, written), time.Hour},
		{letterAt(1, 5, written), 2 * time.Hour},
		{letterAt(0, 5, written), 4 * time.Hour}, // sent a second time
		{letterAt(0, 5, written), 2 * time.Hour}, // by a clock that is behind
		{letterAt(0, 9, written), -time.Hour},    // by one that is far behind
	} {
		r, err := Mark(c.letter, written.Add(c.after), c.after == 3*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.add(r); err != nil {
			t.Fatal(err)
		}
	}
	m.index()
	for _, c := range []struct {
		letter *Letter
		want   time.Time
	}{
		{letterAt(0, 5, written), written.Add(4 * time.Hour)},
		{letterAt(0, 7, written), written.Add(3 * time.Hour)},
		{letterAt(1, 5, written), written.Add(2 * time.Hour)},
		{letterAt(0, 9, written), written},
		{letterAt(0, 6, written), time.Time{}},
		{letterAt(2, 5, written), time.Time{}},
		{letterAt(0, 7, written.Add(4*time.Hour)), time.Time{}}, // of a topic made anew
	} {
		got, arrived := m.of(c.letter)
		if !got.Equal(c.want) || arrived != got.Equal(written.Add(3*time.Hour)) {
			t.Errorf("%s written at %v was redriven at %v and arrived %t, want %v", c.letter.ID, c.letter.Record.Timestamp, got, arrived, c.want)
		}
	}
}

func TestMarksOfAnotherHand(t *testing.T) {
	t.Parallel()
	for _, r := range []*kgo.Record{
		{Key: []byte("seven"), Value: []byte(`{"redrivenAt":"2026-11-21T12:00:00Z"}`)},
		{Key: []byte("0-7"), Value: []byte("yes")},
		{Key: []byte("0-7")},
	} {
		if err := make(marks).add(r); err == nil {
			t.Errorf("a mark with key %q and value %q was taken", r.Key, r.Value)
		}
	}
}
