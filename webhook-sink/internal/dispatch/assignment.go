package dispatch

import "github.com/anabranch/anabranch/webhook-sink/internal/offsets"

// Assign makes partitions ours, of which before was finished beyond their
// committed offsets. One that already is ours was lost without a word; its jobs
// no longer count.
func (d *Dispatcher) Assign(added map[string][]int32, before map[Place]offsets.Done) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each(added, d.close)
	for topic, nums := range added {
		for _, num := range nums {
			at := Place{topic, num}
			p := newPartition(at, before[at])
			d.parts[at] = p
			d.remember(p)
		}
	}
}

// Identify notes of which topic the records of a partition are. It is called before
// they are taken.
func (d *Dispatcher) Identify(at Place, id offsets.TopicID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.parts[at]; p != nil {
		p.id = id
	}
}

// Retries counts the partitions of retry topics that are ours.
func (d *Dispatcher) Retries() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	count := 0
	for _, p := range d.parts {
		if p.retry {
			count++
		}
	}
	return count
}

// Release ends the work on partitions that are about to be taken away: what waits
// is dropped (whoever gets the partition fetches it again), what is in flight
// goes on and still counts. Each channel is closed once nothing of its partition
// is in flight.
func (d *Dispatcher) Release(gone map[string][]int32) []<-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	var idle []<-chan struct{}
	d.each(gone, func(p *partition) {
		d.close(p)
		idle = append(idle, p.idle)
	})
	return idle
}

// Forget ends the assignment of partitions. From here on no completion, however
// late, moves a watermark that is read.
func (d *Dispatcher) Forget(gone map[string][]int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.each(gone, func(p *partition) {
		d.close(p)
		delete(d.parts, p.Place)
	})
}

// ForgetTopic ends the assignment of all partitions of a topic.
func (d *Dispatcher) ForgetTopic(topic string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for at, p := range d.parts {
		if at.Topic == topic {
			d.close(p)
			delete(d.parts, at)
		}
	}
}

// close lets nothing of p start any more and drops what waits.
func (d *Dispatcher) close(p *partition) {
	p.close()
	if p.retry {
		d.closeRetries(p)
		return
	}
	q := p.queue
	if q == nil {
		return
	}
	q.lanes.Remove(func(j *Job) bool {
		if j.part != p {
			return false
		}
		d.discharge(j)
		return true
	})
	d.forgetAside(p)
	p.queue = nil
	if q.feeders--; q.feeders == 0 {
		d.fed--
	}
	d.resumeQueue(q)
}

func (d *Dispatcher) closeRetries(p *partition) {
	if p.paused {
		// A pause outlives a rebalance: should the partition come back, it would
		// never be fetched.
		p.paused = false
		d.flow.ResumePartition(p.Place)
	}
	for _, q := range d.queues {
		d.dropDue(q, p)
	}
}
