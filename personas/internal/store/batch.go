package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrClosed is the error of whatever is asked of a store that was closed.
var ErrClosed = errors.New("the store of user records is closed")

// A Batch is what is written at once. The zero Batch is empty. It copies what it is given.
type Batch struct {
	writes      []write
	timers      []timerWrite
	checkpoints map[int32][]byte
	touched     map[int32]struct{}
	size        int
}

// A write is a record of a user; nil removes it.
type write struct {
	partition int32
	user      []byte
	record    []byte
}

type timerWrite struct {
	partition int32
	timer     Timer
	set       bool
}

// Put writes the record of a user. It may be empty.
func (b *Batch) Put(partition int32, user, record []byte) {
	both := make([]byte, 0, len(user)+len(record)) // one allocation; a record that is empty is not nil
	both = append(append(both, user...), record...)
	b.writes = append(b.writes, write{partition, both[:len(user):len(user)], both[len(user):]})
	b.touch(partition, len(both))
}

// Delete removes the record of a user, if there is one. Timers are deleted one by one.
func (b *Batch) Delete(partition int32, user []byte) {
	b.writes = append(b.writes, write{partition, slices.Clone(user), nil})
	b.touch(partition, len(user))
}

// SetTimer adds a timer. One that is there already stays.
func (b *Batch) SetTimer(partition int32, user []byte, due time.Time) {
	b.timer(partition, user, due, true)
}

// DeleteTimer removes a timer, if it is there.
func (b *Batch) DeleteTimer(partition int32, user []byte, due time.Time) {
	b.timer(partition, user, due, false)
}

func (b *Batch) timer(partition int32, user []byte, due time.Time, set bool) {
	b.timers = append(b.timers, timerWrite{partition, Timer{due, slices.Clone(user)}, set})
	b.touch(partition, len(user))
}

// SetCheckpoint says how far a partition is with this batch.
func (b *Batch) SetCheckpoint(partition int32, checkpoint []byte) {
	if b.checkpoints == nil {
		b.checkpoints = make(map[int32][]byte)
	}
	b.checkpoints[partition] = append([]byte{}, checkpoint...)
}

// Len returns how many records and timers are written.
func (b *Batch) Len() int { return len(b.writes) + len(b.timers) }

// Size returns about how many bytes are written. Batches of a few megabytes are the quickest way to fill a store.
func (b *Batch) Size() int { return b.size }

// Reset empties a batch.
func (b *Batch) Reset() {
	clear(b.writes)
	clear(b.timers)
	clear(b.checkpoints)
	clear(b.touched)
	b.writes, b.timers, b.size = b.writes[:0], b.timers[:0], 0
}

func (b *Batch) touch(partition int32, size int) {
	if b.touched == nil {
		b.touched = make(map[int32]struct{})
	}
	b.touched[partition] = struct{}{}
	b.size += size
}

// check returns an error if a batch touches a partition without saying how far that one is.
func (b *Batch) check() error {
	for partition := range b.touched {
		if _, ok := b.checkpoints[partition]; !ok {
			return fmt.Errorf("write user records of partition %d: the batch has no checkpoint of it; expected one in every batch that touches it", partition)
		}
	}
	return nil
}
