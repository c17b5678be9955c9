package partition

import (
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/lag"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// Place names a partition.
type Place = kafka.Partition

// Partition is one partition, assigned once: one that comes back is made anew. It is
// not safe for concurrent use.
type Partition struct {
	Place
	ID          offsets.TopicID // of the topic whose records these are
	Destination string          // of deliver topics, and of those of replays
	Replay      bool            // of topics of replays
	Retry       bool            // of retry topics,
	Delay       time.Duration   // and their delay

	extent    lag.Extent
	begin     int64 // where reading begins, by the group's commit
	noticed   bool  // somebody has told where the partition ends
	tracker   offsets.Tracker
	aside     aside  // keys that tracker does not follow
	committed uint64 // revision that the broker knows
}

// New returns a partition of which before was finished beyond its committed offset.
func New(at Place, before offsets.Done) Partition {
	p := Partition{Place: at, tracker: *offsets.NewTracker(before), aside: newAside(before)}
	p.Destination, _ = DestinationOf(at.Topic)
	_, p.Replay = schemas.ReplayedTo(at.Topic)
	p.Delay, p.Retry = schemas.RetryDelayOf(at.Topic)
	return p
}

// DestinationOf is the destination whose events a topic has, live ones or those of replays;
// false for a topic of any other kind.
func DestinationOf(topic string) (id string, ok bool) {
	if id, ok = schemas.DestinationOf(topic); ok {
		return id, true
	}
	return schemas.ReplayedTo(topic)
}

// Accept notes a fetched record as begun, and reports whether it is to be worked on:
// not when it was finished before the partition was ours, nor when its key is set
// aside. The reading goes to Finish.
func (p *Partition) Accept(r *kgo.Record) (offsets.Reading, bool) {
	taken := p.Taken(r)
	begun := p.tracker.Begin(r.Offset, r.LeaderEpoch, taken)
	if begun == offsets.Rewound {
		// The broker lost its tail and wrote these offsets anew. What is in flight from
		// here on belongs to records that are gone; the watermark may be committed
		// backwards, which repeats events where staying would skip them.
		p.tracker.Rewind(r.Offset)
		p.extent = lag.Extent{}
		p.aside.rewind(r.Offset)
		begun = p.tracker.Begin(r.Offset, r.LeaderEpoch, taken)
	}
	p.extent.Pass(time.UnixMilli(taken))
	reading := p.tracker.Reading()
	if k := p.aside.of(r.Key); begun == offsets.Fresh && k != nil && k.away && r.Offset >= k.since {
		// After a change of hands the first of the key may stand before those that were
		// set aside: they are followed like all others, and nothing is brought before
		// they were read.
		p.skip(k, r.Offset, reading)
		return reading, false
	}
	return reading, begun == offsets.Fresh
}

// Reading is that in which records are begun at present: should the log be written
// anew from an earlier offset another one begins, and what was begun before from there
// on no longer counts.
func (p *Partition) Reading() offsets.Reading { return p.tracker.Reading() }

// Finish notes that a record which was begun in a reading is finished; one that was
// brought for a key, in that key.
func (p *Partition) Finish(offset int64, in offsets.Reading, of *Key) {
	if of != nil {
		p.aside.finished(of, offset)
		return
	}
	p.tracker.Finish(offset, in)
}

// Taken is since when an event waits: on a retry topic, and on one of replays, since it was
// put there, else since ingest took the call, in Unix milliseconds. The other headers of a first attempt
// are read only when it starts.
func (p *Partition) Taken(r *kgo.Record) int64 {
	if !p.Retry && !p.Replay {
		for i := range r.Headers {
			if h := &r.Headers[i]; h.Key == headerReceived {
				if ms, err := strconv.ParseInt(string(h.Value), 10, 64); err == nil {
					return ms
				}
			}
		}
	}
	return r.Timestamp.UnixMilli()
}

// headerReceived is the key of schemas.Headers.Received.
const headerReceived = "received"

// Resume is where to go on reading the partition that was committed at an offset, if
// that is elsewhere: keys that were set aside hold the commit back.
func (p *Partition) Resume(committed int64) (kgo.EpochOffset, bool) {
	offset, epoch, ok := p.tracker.Resume(committed)
	return kgo.EpochOffset{Epoch: epoch, Offset: offset}, ok
}
