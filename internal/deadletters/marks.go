package deadletters

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
)

// note is the value of a record in dead-letters-redriven.
type note struct {
	RedrivenAt time.Time `json:"redrivenAt"`
	Arrived    bool      `json:"arrived,omitempty"`
}

// Mark returns the record that says of l that it was sent again at a time, and whether it
// has arrived where it was sent to: on a topic that others read. The time it says is never
// before l was written: see [marks.of].
func Mark(l *Letter, at time.Time, arrived bool) (*kgo.Record, error) {
	if written := l.Record.Timestamp; at.Before(written) {
		at = written
	}
	value, err := json.Marshal(note{at.UTC().Truncate(time.Millisecond), arrived})
	if err != nil {
		return nil, fmt.Errorf("mark %s as redriven: %w", l.ID, err)
	}
	return &kgo.Record{Topic: schemas.TopicRedriven, Key: []byte(l.ID.String()), Value: value}, nil
}

// marks holds the latest mark of each dead letter: 16 bytes each, in as many
// slices as there are partitions.
type marks map[int32][]mark

type mark struct {
	offset int64
	when   int64 // in milliseconds, doubled; odd: it has arrived
}

func newMark(offset int64, at time.Time, arrived bool) mark {
	m := mark{offset, at.UnixMilli() << 1}
	if arrived {
		m.when |= 1
	}
	return m
}

// ReadMark is the inverse of [Mark]: which dead letter a record of
// dead-letters-redriven is about, when that was sent again, and whether it arrived.
func ReadMark(r *kgo.Record) (ID, time.Time, bool, error) {
	id, err := ParseID(string(r.Key))
	var n note
	if err == nil {
		err = json.Unmarshal(r.Value, &n)
	}
	if err != nil {
		return ID{}, time.Time{}, false, fmt.Errorf("decode %s[%d]@%d: %w", r.Topic, r.Partition, r.Offset, err)
	}
	return id, n.RedrivenAt, n.Arrived, nil
}

// add takes a record of dead-letters-redriven. One that can't be read is from
// somebody else's hand: guessing would send an event twice or never.
func (m marks) add(r *kgo.Record) error {
	id, at, arrived, err := ReadMark(r)
	if err != nil {
		return err
	}
	m[id.Partition] = append(m[id.Partition], newMark(id.Offset, at, arrived))
	return nil
}

// index must be called after the last add and before the first of.
func (m marks) index() {
	for partition, all := range m {
		slices.SortFunc(all, func(a, b mark) int {
			return cmp.Or(cmp.Compare(a.offset, b.offset), -cmp.Compare(a.when, b.when))
		})
		m[partition] = slices.CompactFunc(all, func(a, b mark) bool { return a.offset == b.offset })
	}
}

// of returns when a dead letter was sent again, zero when never, and whether it arrived. A mark that is
// older than what it marks is about a topic that was deleted since, whose offsets
// began anew.
func (m marks) of(l *Letter) (at time.Time, arrived bool) {
	all := m[l.ID.Partition]
	i, found := slices.BinarySearchFunc(all, l.ID.Offset, func(each mark, offset int64) int { return cmp.Compare(each.offset, offset) })
	if !found || all[i].when>>1 < l.Record.Timestamp.UnixMilli() {
		return time.Time{}, false
	}
	return time.UnixMilli(all[i].when >> 1).UTC(), all[i].when&1 != 0
}
