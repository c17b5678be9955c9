package journal

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// Attempts puts together the record of a sink. The zero value is ready. It is used by one
// goroutine at a time, and again after [Attempts.Reset].
type Attempts struct {
	shapes  []shape
	numbers map[shape]int
	last    int // shape of the last attempt
	entries []byte
	count   int

	first    int64 // offset of the first attempt,
	began    int64 // and when it ended
	lowest   int64
	highest  int64
	previous int64 // offset of the last attempt,
	ended    int64 // and when it ended
}

// Reset forgets the attempts.
func (a *Attempts) Reset() {
	clear(a.shapes)
	clear(a.numbers)
	*a = Attempts{shapes: a.shapes[:0], numbers: a.numbers, entries: a.entries[:0]}
}

// Len is how many attempts there are.
func (a *Attempts) Len() int { return a.count }

// Bytes is about how many bytes they take.
func (a *Attempts) Bytes() int { return len(a.entries) + len(a.shapes)*64 }

// Range is the offsets that the attempts are at, next excluded.
func (a *Attempts) Range() (from, next int64) { return a.lowest, a.highest + 1 }

// Add adds an attempt. Offsets may come in any order.
func (a *Attempts) Add(one *Attempt) {
	at := millis(one.At)
	if a.count == 0 {
		a.first, a.began, a.lowest, a.highest = one.Offset, at, one.Offset, one.Offset
		a.previous, a.ended = one.Offset, at
	}
	a.lowest, a.highest = min(a.lowest, one.Offset), max(a.highest, one.Offset)
	e := binary.AppendVarint(a.entries, one.Offset-a.previous)
	e = binary.AppendUvarint(e, uint64(a.shape(one)))
	e = binary.BigEndian.AppendUint64(e, one.Fingerprint)
	e = binary.AppendUvarint(e, uint64(min(max(one.Took/time.Millisecond, 0), maxTook)))
	e = binary.AppendVarint(e, at-a.ended)
	if one.Outcome.Waits() {
		e = binary.AppendVarint(e, millis(one.Until)-at)
	}
	a.entries, a.previous, a.ended = e, one.Offset, at
	a.count++
}

func (a *Attempts) shape(one *Attempt) int {
	of := shape{
		one.Destination, one.Source, one.Outcome, one.Reason, "",
		one.Endpoints, bounded(one.Number), bounded(one.Withheld), one.Run,
	}
	if one.Outcome.Waits() {
		of.topic = one.Topic
	}
	if a.count > 0 && a.shapes[a.last] == of {
		return a.last
	}
	n, known := a.numbers[of]
	if !known {
		if a.numbers == nil {
			a.numbers = make(map[shape]int)
		}
		n = len(a.shapes)
		a.shapes = append(a.shapes, of)
		a.numbers[of] = n
	}
	a.last = n
	return n
}

// version is that of a record of the attempts.
func (a *Attempts) version() byte {
	if slices.ContainsFunc(a.shapes, func(s shape) bool { return s.run != "" }) {
		return Version
	}
	return withoutRuns
}

func bounded(n int) int { return min(max(n, 0), schemas.MaxAttempts) }

// Append appends the value of the record that they make. The head's range has to hold
// their offsets.
func (a *Attempts) Append(to []byte, head *Head) []byte {
	var texts dictionary
	var table []byte
	version := a.version()
	for i := range a.shapes {
		s := &a.shapes[i]
		table = binary.AppendUvarint(table, texts.number(s.destination))
		table = binary.AppendUvarint(table, texts.number(s.source))
		table = append(table, byte(s.outcome))
		table = binary.AppendUvarint(table, texts.number(string(s.reason)))
		table = binary.AppendUvarint(table, texts.number(s.topic))
		table = append(table, s.endpoints)
		table = binary.AppendUvarint(table, uint64(s.number))
		table = binary.AppendUvarint(table, uint64(s.withheld))
		if version > withoutRuns {
			table = binary.AppendUvarint(table, texts.number(s.run))
		}
	}
	to = texts.append(head.append(to, version, attempts))
	to = binary.AppendUvarint(to, uint64(len(a.shapes)))
	to = append(to, table...)
	to = binary.AppendUvarint(to, uint64(a.count))
	if a.count == 0 {
		return to
	}
	// Where the first entry counts from.
	to = binary.AppendUvarint(to, uint64(a.first-head.From))
	to = binary.AppendUvarint(to, uint64(a.began))
	return append(to, a.entries...)
}
