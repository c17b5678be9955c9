package partition

import (
	"time"

	"github.com/anabranch/anabranch/internal/kafka/lag"
)

// Progress is how far one partition is.
type Progress struct {
	Place
	Destination string // of the topic; empty for a retry topic
	Replay      bool   // the topic is that of replays
	// Total is what is not finished: records that were begun, and the offsets up to the
	// end of the partition, the markers of transactions among them. They were taken by
	// ingest, or written to their retry topic.
	lag.Total

	// AsideKeys are set aside, and AsideRecords are about how many of their events are
	// not finished; they are among Records.
	AsideKeys    int
	AsideRecords int64
	Next         int64 // the offset to be read next
	Noticed      bool  // anything is known of the partition
	// Watched: fetches tell where it ends. They do not of partitions that are paused,
	// behind, or have brought nothing yet.
	Watched bool
	// Held: it is not read on purpose, or what was read of it is in hand. Its
	// receivers are what it waits for, not the brokers.
	Held bool
}

// Read notes how far a fetch has come: behind next nothing is left of what it
// brought, and the partition ends with end. An epoch is that of the leader which
// wrote the last of it. It reports whether there is more to commit: the last that was
// brought may be the marker of a transaction, which is no event, and if that alone is
// between an event and the end, there is no backlog.
func (p *Partition) Read(next int64, epoch int32, end int64) (moved bool) {
	moved = p.tracker.Pass(next-1, epoch)
	p.noticed = true
	p.extent.Reach(end)
	p.catchUp(time.Now())
	return moved
}

// Look notes what somebody has looked up: where reading begins, by the group's commit,
// and where the partition ends. What a quicker fetch brought is read by now, and is not
// counted again.
func (p *Partition) Look(begin, end int64) {
	p.noticed, p.begin = true, begin
	p.extent.Look(end)
	p.catchUp(time.Now())
}

// next is the offset to be read next, and whether anything was read.
func (p *Partition) next() (offset int64, read bool) {
	if offset, read = p.tracker.Next(); !read {
		offset = p.begin
	}
	return offset, read
}

// unread is how many offsets of the partition were not read yet, and not finished
// before it was ours.
func (p *Partition) unread() int64 {
	next, _ := p.next()
	return p.extent.Left(next + p.tracker.Ahead())
}

// oldest is when the first event was taken that was begun and is not finished; zero when
// there is none.
func (p *Partition) oldest() time.Time {
	if taken, ok := p.tracker.Oldest(); ok {
		return time.UnixMilli(taken)
	}
	return time.Time{}
}

func (p *Partition) catchUp(now time.Time) { p.extent.CatchUp(p.unread() > 0, p.oldest(), now) }

// Progress returns how far the partition is. paused says that it is not fetched, and
// held that nobody would read on in it anyway.
func (p *Partition) Progress(paused, held bool) Progress {
	unfinished, unread := int64(p.tracker.Unfinished()), p.unread()
	next, read := p.next()
	noticed := read || p.noticed
	b := Progress{
		Place: p.Place, Destination: p.Destination, Replay: p.Replay, Next: next,
		Total:   lag.Total{Records: unfinished + unread, Oldest: p.extent.Since(unread > 0, p.oldest())},
		Noticed: noticed, Watched: noticed && !paused && unread == 0, Held: held || unfinished > 0,
	}
	for _, k := range p.aside.keys {
		b.AsideKeys++
		b.AsideRecords += k.unfinished()
		if k.taken > 0 {
			b.Add(lag.Total{Oldest: time.UnixMilli(k.taken)})
		}
	}
	b.Records += b.AsideRecords
	return b
}
