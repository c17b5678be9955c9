package store

import (
	"encoding/binary"
	"time"
)

// kind is the first byte of a key. Each kind has its own range of keys, so that reading the timers of a partition does
// not pass its records.
type kind byte

const (
	checkpoints kind = 'c' // then the partition
	timers      kind = 't' // then the partition, the instant and the user
	records     kind = 'u' // then the partition and the user
)

// appendPrefix appends what all keys of a kind and a partition begin with.
func appendPrefix(dst []byte, k kind, partition int32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, byte(k)), uint32(partition))
}

func recordKey(partition int32, user []byte) []byte {
	key := make([]byte, 0, prefixLen+len(user))
	return append(appendPrefix(key, records, partition), user...)
}

func timerKey(partition int32, t Timer) []byte {
	key := make([]byte, 0, prefixLen+instantLen+len(t.User))
	return appendTimer(appendPrefix(key, timers, partition), t)
}

const (
	prefixLen  = 1 + 4
	instantLen = 8 + 4
	signBit    = 1 << 63
)

// appendTimer appends a timer so that the order of the bytes is that of the instants, then of the users. Instants are whole:
// one that was rounded would be due before or after the truth changes.
func appendTimer(dst []byte, t Timer) []byte {
	return append(appendInstant(dst, t.Due), t.User...)
}

func appendInstant(dst []byte, at time.Time) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(at.Unix())^signBit)
	return binary.BigEndian.AppendUint32(dst, uint32(at.Nanosecond()))
}

// readTimer reads what appendTimer has appended. The user is a part of it.
func readTimer(b []byte) Timer {
	seconds := int64(binary.BigEndian.Uint64(b) ^ signBit)
	nanoseconds := int64(binary.BigEndian.Uint32(b[8:]))
	return Timer{Due: time.Unix(seconds, nanoseconds).UTC(), User: b[instantLen:]}
}

// zero is whether a timer is the zero Timer, which is before all others.
func (t Timer) zero() bool { return t.Due.IsZero() && t.User == nil }

// behind returns the first key that does not begin with a prefix and is behind those that do. The prefix is not to be of
// 0xff alone; ours begin with a kind.
func behind(prefix []byte) []byte {
	end := append([]byte{}, prefix...)
	for i := len(end) - 1; ; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
}
