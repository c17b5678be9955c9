package hanging

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

func TestPendingOffsets(t *testing.T) {
	t.Parallel()
	type look struct {
		after           time.Duration
		pending         map[int32]int64
		found, stubborn []int32
	}
	const patience = 25 * time.Second
	cases := map[string][]look{
		"of a transaction that ends": {
			{0, map[int32]int64{1: 10}, nil, nil},
			{10 * time.Second, nil, nil, nil},
			{40 * time.Second, map[int32]int64{1: 10}, nil, nil},
		},
		"of one transaction after the other": {
			{0, map[int32]int64{1: 10}, nil, nil},
			{20 * time.Second, map[int32]int64{1: 20}, nil, nil},
			{40 * time.Second, map[int32]int64{1: 30}, nil, nil},
		},
		"of one that does not end": {
			{0, map[int32]int64{2: -1, 1: 10}, nil, nil},
			{25 * time.Second, map[int32]int64{2: -1, 1: 10}, nil, nil},
			{26 * time.Second, map[int32]int64{2: -1, 1: 10}, []int32{1, 2}, nil},
			{80 * time.Second, map[int32]int64{2: -1, 1: 10}, nil, nil},
			{90 * time.Second, map[int32]int64{2: -1, 1: 10}, nil, []int32{1, 2}},
			{100 * time.Second, map[int32]int64{2: -1}, nil, nil},
			{160 * time.Second, map[int32]int64{2: -1}, nil, []int32{2}},
		},
	}
	for name, looks := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w Watch
			begun := time.Now()
			for _, l := range looks {
				found, stubborn := w.note(l.pending, begun.Add(l.after), patience)
				if diff := cmp.Diff([][]int32{l.found, l.stubborn}, [][]int32{found, stubborn}); diff != "" {
					t.Errorf("after %s (-want +got):\n%s", l.after, diff)
				}
			}
		})
	}
}

// TestWhatIsKnownOfAnotherLog is not committed for this one: it was made anew, or cut,
// or its offsets were set back.
func TestWhatIsKnownOfAnotherLog(t *testing.T) {
	t.Parallel()
	marks := mark.New()
	w := NewWatch(mark.Input{}, marks, time.Second)
	marks.Processed(map[int32]mark.Mark{0: {Next: 10}, 1: {Next: 10}})
	w.Doubted(map[int32]mark.Mark{2: {Next: 10}}, &kgo.Record{})
	for num, next := range map[int32]int64{0: 4, 1: 10, 2: 4} {
		marks.Begin(num, mark.Mark{Next: next})
		w.Settled(map[int32]mark.Mark{num: {}})
	}
	known, doubts := w.decided(map[int32]int64{0: 4, 1: 4, 2: 4})
	if diff := cmp.Diff(map[int32]int64{1: 10}, known); diff != "" || len(doubts) != 0 {
		t.Errorf("doubts %v, known (-want +got):\n%s", doubts, diff)
	}
}
