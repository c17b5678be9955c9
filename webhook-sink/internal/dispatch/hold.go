package dispatch

// Hold says for which destinations nothing may start, all of them each time: neither first
// attempts nor retries nor what a replay has sent. Attempts in flight end as they do. First
// attempts wait in memory and in the log; retries whose time has come or comes are worked on
// without a slot, which puts them back. All others go on, and so do those that were held before
// and are not any more.
func (d *Dispatcher) Hold(ids []string) {
	held := make(map[string]bool, len(ids))
	for _, id := range ids {
		held[id] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return
	}
	d.queues.Hold(held)
	d.queues.DropDue(func(j *Job) bool {
		if held[j.Headers.Destination] {
			d.putBack(j)
			return true
		}
		return false
	})
	for _, p := range d.parts {
		d.seek(p) // no keys were sought of those that were held
	}
	d.fill()
}

// putBack has a retry written to a topic once more, without an attempt.
func (d *Dispatcher) putBack(j *Job) {
	d.run(j)
	d.Start(j)
}
