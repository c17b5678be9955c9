package dispatch

// Reading is how far one partition was read.
type Reading struct {
	Place
	Next int64 // the offset to be read next
	// Held: it is not read on purpose, or what was read of it is in hand. Its
	// receivers are what it waits for, not the brokers.
	Held bool
}

// Readings returns that of each partition that is ours and of which anything is known.
func (d *Dispatcher) Readings() []Reading {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Reading, 0, len(d.parts))
	for _, p := range d.parts {
		if p.closing || !p.isNoticed() {
			continue
		}
		next, read := p.tracker.Next()
		if !read {
			next = p.extent.begin
		}
		q := d.queues[p.destination]
		held := p.paused || p.tracker.Unfinished() > 0 || q != nil && q.paused
		all = append(all, Reading{Place: p.Place, Next: next, Held: held})
	}
	return all
}
