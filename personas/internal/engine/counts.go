package engine

import "sync/atomic"

// Counts counts what has an answer but is out of the ordinary. It may be read at any
// time.
type Counts struct {
	NotNumbers  atomic.Int64 // values of other kinds (numeric strings too) that sum, avg, min and max left out
	TooLong     atomic.Int64 // values longer than MaxValueBytes: left out; of a trait, taken as unset
	Dropped     atomic.Int64 // values that a full set let go, the oldest or rarest first
	Future      atomic.Int64 // calls from after their receipt: their receipt counts
	Old         atomic.Int64 // events that came after their window had passed: they change nothing
	Shed        atomic.Int64 // profiles that lost the oldest values of their sets, to stay below MaxRecordBytes
	BrokenState atomic.Int64 // states of leaves that could not be read, and began anew
}

// Drain returns what was counted since it was called last, by what it is.
func (c *Counts) Drain() map[string]int64 {
	return map[string]int64{
		"not_number":  c.NotNumbers.Swap(0),
		"too_long":    c.TooLong.Swap(0),
		"set_full":    c.Dropped.Swap(0),
		"future":      c.Future.Swap(0),
		"old":         c.Old.Swap(0),
		"record_full": c.Shed.Swap(0),
		"broken":      c.BrokenState.Swap(0),
	}
}
