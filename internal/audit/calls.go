package audit

import (
	"math/bits"
	"slices"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
)

// calls are those of a partition of raw-events that the range of time has, by offsets, and
// which of them the router's journal tells of: a bit each.
type calls struct {
	ranges.Range

	routed  int64 // the offset that the router has committed: what stands from there on waits
	told    []uint64
	covered []ranges.Range // what the journal's records speak for, ascending, apart
	known   int64          // calls that were read of those
	cut     bool           // the log begins with the range, so retention may have taken some of it
}

func newCalls(of ranges.Range, routed int64) *calls {
	return &calls{Range: of, routed: routed, told: make([]uint64, (max(of.End-of.Start, 0)+63)/64)}
}

// has reports whether an offset is one of the range's.
func (c *calls) has(offset int64) bool { return offset >= c.Start && offset < c.End }

// tell notes that the journal tells of an offset of the range; false when it did before.
func (c *calls) tell(offset int64) bool {
	word, bit := &c.told[(offset-c.Start)/64], uint64(1)<<((offset-c.Start)%64)
	before := *word&bit != 0
	*word |= bit
	return !before
}

func (c *calls) tells(offset int64) bool {
	return c.told[(offset-c.Start)/64]&(1<<((offset-c.Start)%64)) != 0
}

// phantoms is how many offsets the journal tells of at which no call was read.
func (c *calls) phantoms() (n int64) {
	for _, word := range c.told {
		n += int64(bits.OnesCount64(word))
	}
	return n - c.known
}

// cover notes what a record of the journal speaks for. They come in order, as a rule.
func (c *calls) cover(of ranges.Range) {
	of = ranges.Range{Start: max(of.Start, c.Start), End: min(of.End, c.End)}
	if of.Start >= of.End {
		return
	}
	i, _ := slices.BinarySearchFunc(c.covered, of.Start, func(each ranges.Range, start int64) int {
		if each.End < start {
			return -1
		}
		return 1
	})
	j := i
	for j < len(c.covered) && c.covered[j].Start <= of.End {
		of.Start, of.End = min(of.Start, c.covered[j].Start), max(of.End, c.covered[j].End)
		j++
	}
	c.covered = slices.Replace(c.covered, i, j, of)
}

func (c *calls) covers(offset int64) bool {
	_, found := slices.BinarySearchFunc(c.covered, offset, func(each ranges.Range, offset int64) int {
		switch {
		case each.End <= offset:
			return -1
		case each.Start > offset:
			return 1
		}
		return 0
	})
	return found
}
