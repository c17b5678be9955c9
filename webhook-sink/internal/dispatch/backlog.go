package dispatch

import "time"

// Backlog is what is not finished on one partition.
type Backlog struct {
	Topic       string
	Destination string // of the topic; empty for a retry topic
	// Records are those that were begun, and the offsets up to the end of the
	// partition, the markers of transactions among them.
	Records int64
	// Oldest is when the first of them was taken by ingest, or written to its retry
	// topic. Zero when there is none.
	Oldest time.Time
	// AsideKeys are set aside, and AsideRecords are about how many of their events are
	// not finished; they are among Records.
	AsideKeys    int
	AsideRecords int64
}

// Backlogs returns the backlog of each partition that is ours.
func (d *Dispatcher) Backlogs() []Backlog {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Backlog, 0, len(d.parts))
	for _, p := range d.parts {
		all = append(all, p.backlog())
	}
	return all
}

// Read notes how far a fetch has come: behind next nothing is left of what it
// brought, and the partition ends with end. An epoch is that of the leader which
// wrote the last of it. It is called after the jobs of the fetch were taken.
//
// The last that it brought may be the marker of a transaction, which is no job. If
// that alone is between an event and the end, there is no backlog.
func (d *Dispatcher) Read(at Place, next int64, epoch int32, end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[at]
	if p == nil || p.closing || d.stopped {
		return
	}
	if p.tracker.Pass(next-1, epoch) {
		d.Tell()
	}
	p.extent.known, p.extent.end = true, max(p.extent.end, end)
	p.catchUp(time.Now())
}

// Unwatched returns the topics of which fetches do not tell where they end: those of
// partitions that are paused, behind, or have brought nothing yet.
func (d *Dispatcher) Unwatched() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	topics := make(map[string]bool)
	for _, p := range d.parts {
		q := d.queues[p.destination] // which may be paused for what other partitions have brought
		if !p.isNoticed() || p.paused || q != nil && q.paused || p.unread() > 0 {
			topics[p.Topic] = true
		}
	}
	return keys(topics)
}

// Topics returns those of all partitions that are ours.
func (d *Dispatcher) Topics() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	topics := make(map[string]bool)
	for _, p := range d.parts {
		topics[p.Topic] = true
	}
	return keys(topics)
}

func keys(set map[string]bool) []string {
	all := make([]string, 0, len(set))
	for key := range set {
		all = append(all, key)
	}
	return all
}

// Look notes what somebody has looked up: where reading of a partition begins, by
// the group's commit, and where the partition ends. Of a partition that is not ours
// it says nothing.
func (d *Dispatcher) Look(at Place, begin, end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parts[at]
	if p == nil || p.closing {
		return
	}
	// The end may be below the one known: the log was cut, or a fetch was quicker.
	// What that one brought is read by now, and is not counted again.
	p.extent.known, p.extent.begin, p.extent.end = true, begin, end
	p.catchUp(time.Now())
}

// isNoticed reports whether anything is known of the partition.
func (p *partition) isNoticed() bool {
	_, read := p.tracker.Next()
	return read || p.extent.known
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

// unread is how many offsets of the partition were not read yet, and not finished
// before it was ours.
func (p *partition) unread() int64 {
	if !p.extent.known {
		return 0
	}
	next, read := p.tracker.Next()
	if !read {
		next = p.extent.begin
	}
	return max(p.extent.end-next-p.tracker.Ahead(), 0)
}

// catchUp keeps since when something is unread: since it was noticed, or since
// the oldest of the events was taken behind which it stands.
func (p *partition) catchUp(now time.Time) {
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

func (p *partition) backlog() Backlog {
	unread := p.unread()
	b := Backlog{Topic: p.Topic, Destination: p.destination, Records: int64(p.tracker.Unfinished()) + unread}
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
