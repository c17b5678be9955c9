package webhooksink

import "github.com/anabranch/anabranch/webhook-sink/internal/offsets"

// assign makes partitions ours, of which before was finished beyond their
// committed offsets. One that already is ours was lost without a word; its jobs
// no longer count.
func (d *dispatcher) assign(added map[string][]int32, before map[place]offsets.Done) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each(added, d.close)
	for topic, nums := range added {
		for _, num := range nums {
			at := place{topic, num}
			d.parts[at] = newPartition(at, before[at])
		}
	}
}

// release ends the work on partitions that are about to be taken away: what waits
// is dropped (whoever gets the partition fetches it again), what is in flight
// goes on and still counts. Each channel is closed once nothing of its partition
// is in flight.
func (d *dispatcher) release(gone map[string][]int32) []<-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	var idle []<-chan struct{}
	d.each(gone, func(p *partition) {
		d.close(p)
		idle = append(idle, p.idle)
	})
	return idle
}

// forget ends the assignment of partitions. From here on no completion, however
// late, moves a watermark that is read.
func (d *dispatcher) forget(gone map[string][]int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each(gone, func(p *partition) {
		d.close(p)
		delete(d.parts, p.place)
	})
}

// close lets nothing of p start any more and drops what waits.
func (d *dispatcher) close(p *partition) {
	p.close()
	if p.retry {
		p.parked = 0
		if p.paused {
			// A pause outlives a rebalance: should the partition come back, it would
			// never be fetched.
			p.paused = false
			d.flow.resumePartition(p.place)
		}
		return
	}
	q := d.queue(p.destination)
	q.lanes.Remove(func(j *job) bool {
		if j.part != p {
			return false
		}
		q.bytes -= j.size
		d.metrics.queued.Sub(float64(j.size))
		return true
	})
	d.resumeQueue(q)
}
