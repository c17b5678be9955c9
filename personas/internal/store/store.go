package store

import (
	"time"
)

// A Store has for each partition the records of its users, their timers and a checkpoint. Partitions know nothing of each
// other: a user may have a record in several.
//
// After a crash a partition is exactly as it was after some [Store.Apply] that had returned or begun, with the checkpoint of
// that batch, or has no checkpoint and nothing else. Nothing is promised about how recent that is, unless the store was
// closed.
//
// Every method may be called at any time by any goroutine, and each sees whole batches alone. Every error but [ErrClosed]
// means that the store is not to be relied on: what was asked for has not been done, or may not have been.
type Store interface {
	// Get returns the record of a user, and whether there is one. The caller may keep it, and must not change it.
	Get(partition int32, user []byte) (record []byte, ok bool, err error)

	// Apply writes a batch, all of it or nothing. A batch that touches a partition without its checkpoint is refused. The
	// batch may be reset and used again when Apply has returned. Of several writes of one thing in a batch the last counts.
	Apply(b *Batch) error

	// Due returns the timers of a partition with an instant up to and including until: the first limit of those behind
	// after, by instant and then by user. The zero Timer is before all others. They stay until a batch deletes them.
	Due(partition int32, after Timer, until time.Time, limit int) ([]Timer, error)

	// Scan calls visit for each user of a partition, ascending by the bytes of the user, beginning with the first that is not
	// before from, until it returns false. To resume behind a user, append a zero byte to it. User and record are valid until
	// visit returns, and not to be changed. Visit may use the store; what is written meanwhile is not seen by this scan.
	Scan(partition int32, from []byte, visit func(user, record []byte) bool) error

	// Checkpoint returns what the last batch said about a partition, and whether one did since the partition was wiped. The
	// caller may keep and change it.
	Checkpoint(partition int32) (checkpoint []byte, ok bool, err error)

	// Partitions returns those that have a checkpoint, ascending.
	Partitions() ([]int32, error)

	// Wipe removes all of a partition: records, timers and checkpoint.
	Wipe(partition int32) error

	// Stats says what the store takes and does.
	Stats() Stats

	// Close makes everything written so far outlast the process, as far as the store outlasts it at all, and gives back what
	// the store holds. Every later call returns [ErrClosed].
	Close() error
}

// A Timer is an instant at which a user is to be looked at again. A user may have any number of them; the same instant twice
// is one timer. Instants are exact to the nanosecond, of any year.
type Timer struct {
	Due  time.Time
	User []byte
}

// Stats is what a store takes and does. A value that a store does not have is 0.
type Stats struct {
	DiskBytes      int64 // what the files take
	MemoryBytes    int64 // what the store holds in memory, about
	CacheHits      int64 // blocks found in memory since the store was opened
	CacheMisses    int64 // blocks read from files
	CompactionDebt int64 // bytes that are still to be rewritten until the files are in order
	Stalls         int64 // how often writing had to wait for files to be written
}
