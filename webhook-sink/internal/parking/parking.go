// Package parking is where the retries of one partition wait until it is their turn to
// be looked at: one timer for the first of them, and an account of their bytes, since a
// partition needs only the few in memory that are due next.
package parking

import (
	"cmp"
	"slices"
	"time"
)

const (
	// High is above how many bytes a partition of retries pauses.
	High = 128 << 10
	// Low is below how many it resumes.
	Low = 64 << 10

	// longestNap bounds a timer: due times are wall-clock times and timers are not,
	// so a clock that is set while a retry waits is noticed within a minute.
	longestNap = time.Minute
)

// Job is what the lot has to know of one.
type Job interface {
	Turn() time.Time // when it is to be looked at
	Offset() int64   // of its record
}

// Lot holds jobs of type J. It is not safe for concurrent use: the dispatcher's mutex
// guards it, which its timer has to take in wake.
type Lot[J Job] struct {
	wake    func()
	waiting []J // by turn, and those of one moment as they were written
	timer   *time.Timer
	bytes   int // of those that wait or are being put back
	paused  bool
}

// New returns an empty lot. wake is called when a turn has come, on a goroutine of its
// own. It may be once too often (a reset that came too late), when nothing is due.
func New[J Job](wake func()) Lot[J] { return Lot[J]{wake: wake} }

// Add lets a job wait until its turn. Retries of one topic come nearly in order of that,
// and a partition has few: most find their place at the end, or near it.
func (l *Lot[J]) Add(j J) {
	at, _ := slices.BinarySearchFunc(l.waiting, j, func(a, b J) int {
		return cmp.Or(a.Turn().Compare(b.Turn()), cmp.Compare(a.Offset(), b.Offset()))
	})
	l.waiting = slices.Insert(l.waiting, at, j)
}

// Due takes out the first job if its turn has come; false when it has not.
func (l *Lot[J]) Due(now time.Time) (j J, ok bool) {
	if len(l.waiting) == 0 || l.waiting[0].Turn().After(now) {
		return j, false
	}
	j = l.waiting[0]
	clear(l.waiting[:1]) // or the array would keep it alive
	l.waiting = l.waiting[1:]
	return j, true
}

// Next is the turn of the first job; false when none waits.
func (l *Lot[J]) Next() (turn time.Time, ok bool) {
	if len(l.waiting) == 0 {
		return time.Time{}, false
	}
	return l.waiting[0].Turn(), true
}

// Arm sets the timer for the first that waits.
func (l *Lot[J]) Arm() {
	turn, ok := l.Next()
	if !ok {
		return
	}
	nap := min(max(time.Until(turn), 0), longestNap)
	if l.timer == nil {
		l.timer = time.AfterFunc(nap, l.wake)
		return
	}
	l.timer.Reset(nap)
}

// Charge puts bytes on the account, and reports whether the partition is to pause.
func (l *Lot[J]) Charge(bytes int) (pause bool) {
	l.bytes += bytes
	pause = l.bytes > High && !l.paused
	l.paused = l.paused || pause
	return pause
}

// Discharge takes bytes off the account, and reports whether the partition is to resume.
func (l *Lot[J]) Discharge(bytes int) (resume bool) {
	l.bytes -= bytes
	resume = l.bytes < Low && l.paused
	l.paused = l.paused && !resume
	return resume
}

// Bytes are those on the account.
func (l *Lot[J]) Bytes() int { return l.bytes }

// IsPaused reports whether the partition is paused.
func (l *Lot[J]) IsPaused() bool { return l.paused }

// Stop ends the timer.
func (l *Lot[J]) Stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// Close drops what waits, and reports whether the partition is to resume: a pause
// outlives a rebalance, so should the partition come back, it would never be fetched.
func (l *Lot[J]) Close() (resume bool) {
	l.Stop()
	resume = l.paused
	l.waiting, l.paused = nil, false
	return resume
}
