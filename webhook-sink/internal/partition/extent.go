package partition

import "time"

// Progress is how far one partition is.
type Progress struct {
	Topic       string
	Num         int32
	Destination string // of the topic; empty for a retry topic
	// Records are not finished: those that were begun, and the offsets up to the end of
	// the partition, the markers of transactions among them.
	Records int64
	// Oldest is when the first of them was taken by ingest, or written to its retry
	// topic. Zero when there is none.
	Oldest time.Time
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

// extent is what is known of a partition beside what was read of it. The zero value
// is nothing.
type extent struct {
	known bool
	begin int64 // where reading begins
	end   int64
	// behind is since when something is known to be unread; zero while nothing is.
	behind time.Time
	last   int64 // when the event that was read last was taken
}

// Read notes how far a fetch has come: behind next nothing is left of what it
// brought, and the partition ends with end. An epoch is that of the leader which
// wrote the last of it. It reports whether there is more to commit: the last that was
// brought may be the marker of a transaction, which is no event, and if that alone is
// between an event and the end, there is no backlog.
func (p *Partition) Read(next int64, epoch int32, end int64) (moved bool) {
	moved = p.tracker.Pass(next-1, epoch)
	p.extent.known, p.extent.end = true, max(p.extent.end, end)
	p.catchUp(time.Now())
	return moved
}

// Look notes what somebody has looked up: where reading begins, by the group's commit,
// and where the partition ends. The end may be below the one known: the log was cut, or
// a fetch was quicker. What that one brought is read by now, and is not counted again.
func (p *Partition) Look(begin, end int64) {
	p.extent.known, p.extent.begin, p.extent.end = true, begin, end
	p.catchUp(time.Now())
}

// next is the offset to be read next, and whether anything was read.
func (p *Partition) next() (offset int64, read bool) {
	if offset, read = p.tracker.Next(); !read {
		offset = p.extent.begin
	}
	return offset, read
}

// unread is how many offsets of the partition were not read yet, and not finished
// before it was ours.
func (p *Partition) unread() int64 {
	if !p.extent.known {
		return 0
	}
	next, _ := p.next()
	return max(p.extent.end-next-p.tracker.Ahead(), 0)
}

// catchUp keeps since when something is unread: since it was noticed, or since
// the oldest of the events was taken behind which it stands.
func (p *Partition) catchUp(now time.Time) {
	if p.unread() == 0 {
		p.extent.behind = time.Time{}
		return
	}
	if p.extent.behind.IsZero() {
		p.extent.behind = now
	}
	if taken, ok := p.tracker.Oldest(); ok && taken < p.extent.behind.UnixMilli() {
		p.extent.behind = time.UnixMilli(taken)
	}
}

// Progress returns how far the partition is. paused says that it is not fetched, and
// held that nobody would read on in it anyway.
func (p *Partition) Progress(paused, held bool) Progress {
	unfinished, unread := int64(p.tracker.Unfinished()), p.unread()
	next, read := p.next()
	noticed := read || p.extent.known
	b := Progress{
		Topic: p.Topic, Num: p.Num, Destination: p.Destination, Records: unfinished + unread, Next: next,
		Noticed: noticed, Watched: noticed && !paused && unread == 0, Held: held || unfinished > 0,
	}
	if taken, ok := p.tracker.Oldest(); ok {
		b.Oldest = time.UnixMilli(taken)
	} else if unread > 0 {
		// Nothing of it is in memory to tell its age. Events stand nearly in the
		// order in which they were taken, so it is no older than the last one read.
		b.Oldest = time.UnixMilli(max(p.extent.behind.UnixMilli(), p.extent.last))
	}
	for _, k := range p.aside.keys {
		b.AsideKeys++
		b.AsideRecords += k.unfinished()
		if taken := time.UnixMilli(k.taken); k.taken > 0 && (b.Oldest.IsZero() || taken.Before(b.Oldest)) {
			b.Oldest = taken
		}
	}
	b.Records += b.AsideRecords
	return b
}
