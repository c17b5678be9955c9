package journal

import (
	"encoding/binary"
	"slices"
)

// Calls puts together the record of a router. The zero value is ready. It is used by one
// goroutine, and again after [Calls.Reset].
type Calls struct {
	verdicts []verdict
	prints   []byte
	offsets  []run // those that follow on one another
	runs     []run // of verdicts: which, and how many
	last     int   // verdict of the last call
	count    int
	bytes    int // about what the verdicts take
}

// run is a number of things from one on.
type run struct {
	first int64
	n     int
}

// Reset forgets the calls.
func (c *Calls) Reset() {
	clear(c.verdicts)
	*c = Calls{verdicts: c.verdicts[:0], prints: c.prints[:0], offsets: c.offsets[:0], runs: c.runs[:0]}
}

// Len is how many calls there are.
func (c *Calls) Len() int { return c.count }

// Bytes is about how many bytes their record takes.
func (c *Calls) Bytes() int { return len(c.prints) + 4*(len(c.offsets)+len(c.runs)) + c.bytes }

// Add adds a call. Offsets ascend. Decisions are copied where they are not those of
// another call, so the caller may use their memory again.
func (c *Calls) Add(call *Call) {
	c.prints = binary.BigEndian.AppendUint64(c.prints, call.Fingerprint)
	if n := len(c.offsets); n > 0 && c.offsets[n-1].first+int64(c.offsets[n-1].n) == call.Offset {
		c.offsets[n-1].n++
	} else {
		c.offsets = append(c.offsets, run{call.Offset, 1})
	}
	of := c.verdict(call)
	if n := len(c.runs); n > 0 && of == c.last {
		c.runs[n-1].n++
	} else {
		c.runs = append(c.runs, run{int64(of), 1})
	}
	c.last = of
	c.count++
}

// mostCompared is how many verdicts are looked through for one that is the same: where
// there are more, one that comes again may be written again.
const mostCompared = 64

func (c *Calls) verdict(call *Call) int {
	if c.count > 0 && c.verdicts[c.last].is(call) {
		return c.last
	}
	for i := range c.verdicts[:min(len(c.verdicts), mostCompared)] {
		if c.verdicts[i].is(call) {
			return i
		}
	}
	c.verdicts = append(c.verdicts, verdict{call.Source, call.Result, call.Reason, slices.Clone(call.Decisions)})
	c.bytes += 8 + 6*len(call.Decisions)
	return len(c.verdicts) - 1
}

func (v *verdict) is(call *Call) bool {
	return v.result == call.Result && v.source == call.Source && v.reason == call.Reason && slices.Equal(v.decisions, call.Decisions)
}

// Append appends the value of the record that they make. The head's range has to hold
// their offsets.
func (c *Calls) Append(to []byte, head *Head) []byte {
	var texts dictionary
	var table []byte
	for i := range c.verdicts {
		v := &c.verdicts[i]
		table = binary.AppendUvarint(table, texts.number(v.source))
		table = append(table, byte(v.result))
		table = binary.AppendUvarint(table, texts.number(string(v.reason)))
		table = binary.AppendUvarint(table, uint64(len(v.decisions)))
		for _, d := range v.decisions {
			table = binary.AppendUvarint(table, texts.number(d.Destination))
			table = append(table, byte(d.Result))
			table = binary.AppendUvarint(table, texts.number(d.Why))
		}
	}
	to = texts.append(head.append(to, withoutRuns, calls))
	to = binary.AppendUvarint(to, uint64(len(c.verdicts)))
	to = append(to, table...)
	to = binary.AppendUvarint(to, uint64(c.count))
	behind := head.From
	for _, r := range c.offsets {
		to = binary.AppendUvarint(to, uint64(r.first-behind))
		to = binary.AppendUvarint(to, uint64(r.n))
		behind = r.first + int64(r.n)
	}
	for _, r := range c.runs {
		to = binary.AppendUvarint(to, uint64(r.first))
		to = binary.AppendUvarint(to, uint64(r.n))
	}
	return append(to, c.prints...)
}
