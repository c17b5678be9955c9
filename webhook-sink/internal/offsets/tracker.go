package offsets

import (
	"cmp"
	"slices"
)

// Tracker follows the records of one partition. The zero value is ready. It is
// not safe for concurrent use.
type Tracker struct {
	// open holds what was begun from the lowest unfinished record on, in ascending
	// order; what is finished in front of it is cut off at once.
	open []entry
	// before is what had finished beyond the commit that reading began with.
	before Done

	seen   bool  // anything was begun, or passed over
	last   int64 // highest offset of that
	leader int32 // its leader epoch
	epoch  int32 // leader epoch of the last record cut off

	reading    Reading
	unfinished int
	revision   uint64
}

type entry struct {
	offset   int64
	taken    int64 // when the event was taken, as Begin was told
	epoch    int32
	reading  Reading // in which it was begun
	finished bool
}

// Reading tells records from others that stood at the same offsets before the log was
// written anew. Each [Tracker.Rewind] begins another one.
type Reading uint16

// NewTracker returns a tracker for a partition that is read from a commit which
// knew of the finished records before; where that has keys set aside, from
// [Done.Resume].
func NewTracker(before Done) *Tracker {
	t := &Tracker{before: before, leader: -1, epoch: -1}
	if len(before.aside) > 0 {
		t.seen, t.last, t.leader, t.epoch = true, before.main-1, before.mainEpoch, before.mainEpoch
	}
	return t
}

// Begun is the answer to [Tracker.Begin].
type Begun uint8

// The answers.
const (
	// Fresh: the record is to be worked on, and finished one day.
	Fresh Begun = iota
	// Known: it was finished before the partition was ours.
	Known
	// Rewound: the offset is not above all before it, and nothing was noted. The
	// log went back (a broker lost its tail and wrote it anew): what was tracked
	// from there on no longer says anything about it; see Rewind.
	Rewound
)

// Begin notes that the record at offset, written under a leader epoch, was read.
// taken is when its event was taken, for [Tracker.Oldest].
func (t *Tracker) Begin(offset int64, epoch int32, taken int64) Begun {
	if t.seen && offset <= t.last {
		return Rewound
	}
	t.seen, t.last, t.leader = true, offset, epoch
	known := t.before.Contains(offset, epoch)
	t.open = append(t.open, entry{offset: offset, taken: taken, epoch: epoch, reading: t.reading, finished: known})
	if known {
		t.cut()
		return Known
	}
	t.unfinished++
	return Fresh
}

// Pass notes that reading has come past offset, which holds no event but the marker
// of a transaction. It reports whether that moves Position: while anything is
// unfinished it does not yet, and an offset that was passed before is ignored.
func (t *Tracker) Pass(offset int64, epoch int32) bool {
	if t.seen && offset <= t.last {
		return false
	}
	t.seen, t.last, t.leader = true, offset, epoch
	if len(t.open) > 0 {
		return false
	}
	t.revision++
	return true
}

// Reading is that in which records are begun at present.
func (t *Tracker) Reading() Reading { return t.reading }

// Rewind begins another reading at offset, from which on the log was written anew.
// What was begun there before is forgotten; what stands below is still in the log, and
// what is unfinished of it holds Position back as ever.
func (t *Tracker) Rewind(offset int64) {
	cut, _ := t.find(offset)
	for _, e := range t.open[cut:] {
		if !e.finished {
			t.unfinished--
		}
	}
	t.open = t.open[:cut]
	if cut == 0 {
		t.epoch = -1 // it may be that of a record which is gone
	}
	// Of what was finished before the partition was ours all that is left is beyond
	// what was read, and so beyond the offset.
	t.before = Done{}
	t.last, t.leader = offset-1, -1
	t.reading++
	t.revision++
}

// Finish notes that the record at offset, begun in a reading, is done with. Those that
// are not open are ignored.
func (t *Tracker) Finish(offset int64, in Reading) {
	i, found := t.find(offset)
	if !found || t.open[i].finished || t.open[i].reading != in {
		return
	}
	t.open[i].finished = true
	t.unfinished--
	t.cut()
}

// find returns the index of the first open record that is not below offset, and
// whether it is the one there.
func (t *Tracker) find(offset int64) (int, bool) {
	return slices.BinarySearchFunc(t.open, offset, func(e entry, offset int64) int {
		return cmp.Compare(e.offset, offset)
	})
}

// cut takes off the finished records in front.
func (t *Tracker) cut() {
	t.revision++
	done := 0
	for done < len(t.open) && t.open[done].finished {
		t.epoch = t.open[done].epoch
		done++
	}
	// The array behind the slice is let go when append outgrows what is left of
	// it, so each entry is moved once at most on average.
	t.open = t.open[done:]
}

// Resume is [Done.Resume] of what had finished before.
func (t *Tracker) Resume(committed int64) (offset int64, epoch int32, ok bool) {
	return t.before.Resume(committed)
}

// Revision changes with every record that finishes; zero while none has.
func (t *Tracker) Revision() uint64 { return t.revision }

// Position is where reading must go on so that nothing unfinished is missed, with
// the leader epoch of the record before it, -1 when that is not known. It goes back
// with Rewind alone. It means nothing before the first Begin.
func (t *Tracker) Position() (offset int64, epoch int32) {
	if len(t.open) > 0 {
		return t.open[0].offset, t.epoch
	}
	return t.last + 1, t.leader
}

// Next is the offset behind all that was read; false before anything was.
func (t *Tracker) Next() (int64, bool) { return t.last + 1, t.seen }

// Unfinished is how many records were begun and are not finished.
func (t *Tracker) Unfinished() int { return t.unfinished }

// Oldest is when the event of the first unfinished record was taken; false when
// nothing is unfinished.
func (t *Tracker) Oldest() (taken int64, ok bool) {
	if len(t.open) == 0 {
		return 0, false
	}
	return t.open[0].taken, true
}

// Ahead is how many offsets from Next on were finished before, by another reader
// of the partition.
func (t *Tracker) Ahead() int64 {
	next, _ := t.Next()
	sum := int64(0)
	for _, r := range t.before.runs {
		sum += max(r.to-max(r.from, next), 0)
	}
	return sum
}

// Done returns the records finished beyond Position: those that are open, and
// those known from before that were not read again yet.
func (t *Tracker) Done() Done {
	var d Done
	from := int64(-1) // of the run of finished records that is being collected
	for _, e := range t.open {
		switch {
		case e.finished && from < 0:
			from = e.offset
		case !e.finished && from >= 0:
			d.runs = join(d.runs, from, e.offset)
			from = -1
		}
		if e.finished {
			d.epoch = max(d.epoch, e.epoch)
		}
	}
	if from >= 0 {
		d.runs = join(d.runs, from, t.last+1)
	}
	for _, r := range t.before.runs {
		if r.to > t.last+1 {
			d.runs = join(d.runs, max(r.from, t.last+1), r.to)
			d.epoch = max(d.epoch, t.before.epoch)
		}
	}
	return d
}
