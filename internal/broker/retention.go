package broker

import (
	"slices"
	"strings"
	"time"
)

// limits is how much of a log a topic keeps. A negative limit is none.
type limits struct {
	age  time.Duration
	size int64 // of one partition
}

// segment is one file of a partition's log.
type segment struct {
	base     int64 // the offset of its first record
	size     int64
	modified time.Time // when its last record was appended
}

// start returns the offset at which the log of a partition may begin: the base of its first segment that is still
// wanted, or that holds a record at floor or behind it. Segments come in order of their bases, and there is at least
// one.
//
// The last segment always stays, as on Kafka, and that is why kfake's own retention is not used: it empties an
// idle partition, and a partition without a segment begins again at offset 0 after a restart, even a clean one. A
// group that had committed offset 5 would then pass over the first five records that arrive before it reads.
func (l limits) start(segments []segment, floor int64, now time.Time) int64 {
	var total int64
	for _, s := range segments {
		total += s.size
	}
	last := len(segments) - 1
	for i, s := range segments[:last] {
		tooOld := l.age >= 0 && now.Sub(s.modified) > l.age
		tooMuch := l.size >= 0 && total-s.size >= l.size
		if !tooOld && !tooMuch || segments[i+1].base > floor {
			return s.base
		}
		total -= s.size
	}
	return segments[last].base
}

// deletes tells whether a cleanup.policy lets retention delete anything. Kafka keeps each key of a topic
// that is compacted only, however old; kfake's own retention would empty it after a week.
func deletes(policy string) bool {
	return slices.Contains(strings.Split(policy, ","), "delete")
}
