package webhooksink

import (
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// Finished returns which records of a partition are done with beyond the offset
// that the group committed for it, by what the commit says in its metadata: for
// those who look on, and would otherwise count what has overtaken an unfinished
// record. Metadata that is not the sink's says nothing.
func Finished(committed int64, metadata string) func(*kgo.Record) bool {
	done := offsets.Decode(committed, metadata)
	return func(r *kgo.Record) bool { return done.ContainsKey(r.Key, r.Offset, r.LeaderEpoch) }
}

// BusyKeys is how many keys of a partition are set aside, by the metadata of the
// group's commit: each has more events than its receiver takes one at a time. events
// is about how many of them wait.
func BusyKeys(committed int64, metadata string) (keys int, events int64) {
	aside := offsets.Decode(committed, metadata).Aside()
	for _, k := range aside {
		events += k.Count
	}
	return len(aside), events
}
