package deadletters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/schemas"
)

// Log is where dead letters are read.
type Log struct {
	Kafka  []kgo.Opt // what every client of the process shares
	Topics *topics.Admin
}

// View is what a [Log] held at one moment. What dies later is not in it, nor what
// a redrive sends in vain: a redrive comes to an end.
type View struct {
	log      *Log
	selected Selection
	ids      map[ID]bool // of the selection; empty: any
	ranges   map[int32]ranges.Range
	marks    marks
}

// Open fixes the end of what is read, and reads what was redriven before. Topics
// that do not exist yet are empty.
func Open(ctx context.Context, log *Log, selected Selection) (*View, error) {
	v := &View{log: log, selected: selected, ids: make(map[ID]bool), marks: make(marks)}
	for _, id := range selected.IDs {
		v.ids[id] = true
	}
	var err error
	if v.ranges, err = log.ranges(ctx, schemas.TopicDeadLetters, selected.Since); err != nil {
		return nil, err
	}
	redriven, err := log.ranges(ctx, schemas.TopicRedriven, time.Time{})
	if err != nil {
		return nil, err
	}
	for _, partition := range slices.Sorted(maps.Keys(redriven)) {
		err := log.read(ctx, schemas.TopicRedriven, partition, redriven[partition], v.marks.add)
		if err != nil {
			return nil, err
		}
	}
	v.marks.index()
	return v, nil
}

// Each hands out the selected dead letters in the order of time over all
// partitions, the oldest first, and ends with the first error of yield. Ids that
// are not in the view are an error, before anything is handed out where that can be
// known by then.
func (v *View) Each(ctx context.Context, yield func(*Letter) error) error {
	if err := v.outside(); err != nil {
		return err
	}
	found := 0
	err := v.byTime(ctx, func(l *Letter) error {
		found++
		l.RedrivenAt, l.Arrived = v.marks.of(l)
		return yield(l)
	})
	if err != nil {
		return err
	}
	if missing := len(v.ids) - found; missing > 0 {
		return fmt.Errorf("%d of %d ids name no dead letter", missing, len(v.ids))
	}
	return nil
}

// outside is the error about ids that no partition reaches.
func (v *View) outside() error {
	for _, id := range v.selected.IDs {
		r, ok := v.ranges[id.Partition]
		switch {
		case !ok:
			return fmt.Errorf("dead letter %s: expected one of %d partitions", id, len(v.ranges))
		case r.Start == r.End:
			return fmt.Errorf("dead letter %s: partition %d holds none", id, id.Partition)
		case id.Offset < r.Start || id.Offset >= r.End:
			return fmt.Errorf("dead letter %s: partition %d holds the offsets from %d up to %d", id, id.Partition, r.Start, r.End-1)
		}
	}
	return nil
}

// narrow is the part of a partition that holds all of its selected dead letters.
func (v *View) narrow(partition int32) ranges.Range {
	if len(v.ids) == 0 {
		return v.ranges[partition]
	}
	var r ranges.Range
	for id := range v.ids {
		switch {
		case id.Partition != partition:
		case r.End == 0:
			r = ranges.Range{Start: id.Offset, End: id.Offset + 1}
		default:
			r = ranges.Range{Start: min(r.Start, id.Offset), End: max(r.End, id.Offset+1)}
		}
	}
	return r
}
