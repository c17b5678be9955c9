package hanging

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/txn/internal/mark"
)

// Partitions of raw-events, by number.
type (
	pending map[int32]int64
	nums    []int32
)

func (p pending) all() map[kafka.Partition]int64 {
	all := make(map[kafka.Partition]int64)
	for num, offset := range p {
		all[on(num)] = offset
	}
	return all
}

func (n nums) all() (all []kafka.Partition) {
	for _, num := range n {
		all = append(all, on(num))
	}
	return all
}

func on(num int32) kafka.Partition { return kafka.Partition{Topic: "raw-events", Num: num} }

func TestPendingOffsets(t *testing.T) {
	t.Parallel()
	type look struct {
		after           time.Duration
		pending         pending
		found, stubborn nums
	}
	const patience = 25 * time.Second
	cases := map[string][]look{
		"of a transaction that ends": {
			{0, pending{1: 10}, nil, nil},
			{10 * time.Second, nil, nil, nil},
			{40 * time.Second, pending{1: 10}, nil, nil},
		},
		"of one transaction after the other": {
			{0, pending{1: 10}, nil, nil},
			{20 * time.Second, pending{1: 20}, nil, nil},
			{40 * time.Second, pending{1: 30}, nil, nil},
		},
		"of one that does not end": {
			{0, pending{2: -1, 1: 10}, nil, nil},
			{25 * time.Second, pending{2: -1, 1: 10}, nil, nil},
			{26 * time.Second, pending{2: -1, 1: 10}, nums{1, 2}, nil},
			{80 * time.Second, pending{2: -1, 1: 10}, nil, nil},
			{90 * time.Second, pending{2: -1, 1: 10}, nil, nums{1, 2}},
			{100 * time.Second, pending{2: -1}, nil, nil},
			{160 * time.Second, pending{2: -1}, nil, nums{2}},
		},
	}
	for name, looks := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w Watch
			begun := time.Now()
			for _, l := range looks {
				found, stubborn := w.note(l.pending.all(), begun.Add(l.after), patience)
				if diff := cmp.Diff([][]kafka.Partition{l.found.all(), l.stubborn.all()}, [][]kafka.Partition{found, stubborn}); diff != "" {
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
	marks.Processed(map[kafka.Partition]mark.Mark{on(0): {Next: 10}, on(1): {Next: 10}})
	for num, next := range (pending{0: 4, 1: 10}) {
		marks.Begin(on(num), mark.Mark{Next: next})
	}
	if diff := cmp.Diff(pending{1: 10}.all(), w.decided(pending{0: 4, 1: 4}.all())); diff != "" {
		t.Errorf("known (-want +got):\n%s", diff)
	}
}
