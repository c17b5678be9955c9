package webhooksink

import "github.com/anabranch/anabranch/webhook-sink/internal/offsets"

// Finished returns which records of a partition are done with beyond the offset
// that the group committed for it, by what the commit says in its metadata: for
// those who look on, and would otherwise count what has overtaken an unfinished
// record. Metadata that is not the sink's says nothing.
func Finished(committed int64, metadata string) func(offset int64, leaderEpoch int32) bool {
	return offsets.Decode(committed, metadata).Contains
}
