package dispatch

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// modelLog is one partition: its log, what is committed of it, and what this
// member knows of it.
type modelLog struct {
	at        partition.Place
	records   []*kgo.Record // with gaps between their offsets
	begun     int           // index of the first that was handed over since it was assigned
	fetched   int           // how many of them were handed over since it was assigned
	committed int64
	metadata  string
	mine      bool
	finished  map[int64]bool // by offset: all that ever ended
	owned     map[int64]bool // those that ended under the present assignment
	known     map[int64]bool // those that the broker was told of
}

func newModelLog(at partition.Place) *modelLog {
	return &modelLog{at: at, finished: make(map[int64]bool), known: make(map[int64]bool)}
}

// one names the partition as the group does.
func (l *modelLog) one() map[string][]int32 { return map[string][]int32{l.at.Topic: {l.at.Num}} }

// payload is what values are cut from, so that large ones cost nothing.
var payload = make([]byte, 1<<20)

// add writes a record. One in eight is large: a few of those pause a topic.
func (l *modelLog) add(random *rand.Rand, key []byte, h schemas.Headers) {
	size := 1 + random.IntN(1000)
	if random.IntN(8) == 0 {
		size = 10_000 + random.IntN(20_000)
	}
	r := &kgo.Record{
		Topic: l.at.Topic, Partition: l.at.Num, Offset: l.end() + int64(random.IntN(3)),
		Key: key, Value: payload[:size], Timestamp: time.Now(),
	}
	kafka.SetHeaders(r, &h)
	l.records = append(l.records, r)
}

// end is the offset behind the last record.
func (l *modelLog) end() int64 {
	if len(l.records) == 0 {
		return 0
	}
	return l.records[len(l.records)-1].Offset + 1
}

// next are the jobs of the records that a fetch would bring.
func (l *modelLog) next(n int) []*Job {
	var jobs []*Job
	for _, r := range l.records[l.fetched:min(l.fetched+n, len(l.records))] {
		j := NewJob(r)
		j.Read()
		jobs = append(jobs, j)
	}
	return jobs
}

// part are the next records from an offset on, and the offset behind them.
func (l *modelLog) part(from int64, n int) ([]*kgo.Record, int64) {
	first, _ := slices.BinarySearchFunc(l.records, from, func(r *kgo.Record, offset int64) int { return cmp.Compare(r.Offset, offset) })
	found := l.records[first:min(first+n, len(l.records))]
	switch {
	case n == 0:
		return nil, from
	case first+n >= len(l.records):
		return found, max(l.end(), from)
	default:
		return found, found[len(found)-1].Offset + 1
	}
}

// gain makes the partition ours: fetching begins at what is committed, or where that
// says.
func (l *modelLog) gain(f *floor) {
	f.Assign(l.one(), map[partition.Place]offsets.Done{l.at: offsets.Decode(l.committed, l.metadata)})
	l.mine, l.owned = true, make(map[int64]bool)
	begin := l.committed
	if at, ok := f.Resume(l.at, l.committed); ok {
		begin = at.Offset
	}
	l.fetched = slices.IndexFunc(l.records, func(r *kgo.Record) bool { return r.Offset >= begin })
	if l.fetched < 0 {
		l.fetched = len(l.records)
	}
	l.begun = l.fetched
}

// unfinished are the records that were handed over and have not ended.
func (l *modelLog) unfinished() (all []*kgo.Record) {
	for _, r := range l.records[l.begun:l.fetched] {
		if !l.owned[r.Offset] && !l.known[r.Offset] {
			all = append(all, r)
		}
	}
	return all
}

// accept is the broker taking a commit: nothing below it may be unfinished.
func (l *modelLog) accept(t *testing.T, w partition.Watermark) {
	t.Helper()
	if !l.mine {
		t.Fatalf("commit of %v, which is not ours", l.at)
	}
	if w.At.Offset < l.committed {
		t.Fatalf("commit of %v at %d, behind %d", l.at, w.At.Offset, l.committed)
	}
	for _, r := range l.records {
		if r.Offset < w.At.Offset && !l.finished[r.Offset] {
			t.Fatalf("commit of %v at %d, but %d is unfinished", l.at, w.At.Offset, r.Offset)
		}
	}
	l.committed, l.metadata = w.At.Offset, w.Done
	for offset := range l.owned {
		l.known[offset] = true
	}
}
