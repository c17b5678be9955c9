package dispatch

import (
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/pace"
)

func (d *Dispatcher) queue(id string) *queue {
	q := d.queues[id]
	if q == nil {
		q = &queue{pace: pace.New(pace.Settings{Shortest: d.shortest})}
		q.pace.SetShare(d.share)
		d.queues[id] = q
	}
	return q
}

// feed returns the queue that a partition feeds.
func (d *Dispatcher) feed(p *partition) *queue {
	if p.queue == nil {
		p.queue = d.queue(p.destination)
		p.queue.topic = p.Topic
		if p.queue.feeders++; p.queue.feeders == 1 {
			d.fed++
		}
	}
	return p.queue
}

func (d *Dispatcher) enqueue(p *partition, jobs []*Job) {
	q := d.feed(p)
	q.pace.Arrived(len(jobs), time.Now())
	for _, j := range jobs {
		d.push(q, j)
	}
	d.relieve(q)
	d.lineUp(q)
	d.pauseQueue(q)
}

// push puts a first attempt into the lane of its key, and on its account.
func (d *Dispatcher) push(q *queue, j *Job) {
	j.queue, j.key = q, string(j.Record.Key)
	d.charge(j, +1)
	q.lanes.Push(j.key, j)
}

// discharge takes a first attempt off its account.
func (d *Dispatcher) discharge(j *Job) { d.charge(j, -1) }

func (d *Dispatcher) charge(j *Job, n int) {
	if j.aside == nil {
		j.queue.bytes += n * j.size
	} else {
		j.aside.held += n * j.size
		j.queue.asideBytes += n * j.size
	}
	d.gauges.Queued.Add(float64(n * j.size))
}

func (d *Dispatcher) marks(q *queue) (high, low int) {
	return q.speed.Marks(d.fed, d.limits.Each, d.fetchWait)
}

func (d *Dispatcher) pauseQueue(q *queue) {
	if high, _ := d.marks(q); q.bytes > high && !q.paused {
		q.paused = true
		d.flow.PauseTopic(q.topic)
	}
}

// resumeQueue is called whenever bytes leave a queue. A paused queue has some,
// and each of them leaves one day, so none stays paused for ever: not when its
// partitions are revoked, and not when they come back.
func (d *Dispatcher) resumeQueue(q *queue) {
	if !q.paused {
		return
	}
	if _, low := d.marks(q); q.bytes < low {
		q.paused = false
		d.flow.ResumeTopic(q.topic)
	}
}
