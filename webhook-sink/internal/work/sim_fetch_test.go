package work

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

func (m *simMember) flow() dispatch.Flow {
	pause := func(what any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paused[what] = true
	}
	resume := func(what any) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paused[what], m.resumed[what] = false, time.Now().Add(simResume)
		time.AfterFunc(simResume, m.touchAll)
	}
	return dispatch.Flow{
		PauseTopic:      func(topic string) { pause(topic) },
		PausePartition:  func(at partition.Place) { pause(at) },
		ResumeTopic:     func(topic string) { resume(topic) },
		ResumePartition: func(at partition.Place) { resume(at) },
	}
}

// rests reports whether something is not fetched. The caller holds the mutex.
func (m *simMember) rests(what any) bool {
	return m.paused[what] || time.Now().Before(m.resumed[what])
}

// touch says that there may be something to fetch.
func (m *simMember) touch(at partition.Place) {
	m.mu.Lock()
	m.dirty[at] = true
	m.mu.Unlock()
	m.poke()
}

func (m *simMember) touchAll() {
	m.mu.Lock()
	for at := range m.position {
		m.dirty[at] = true
	}
	m.mu.Unlock()
	m.poke()
}

func (m *simMember) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (m *simMember) fetchLoop() {
	for {
		select {
		case <-m.ctx.Done():
			return
		case <-m.ended:
			return
		case <-m.wake:
		}
		if !waiting.Sleep(m.ctx, simFetch) {
			return
		}
		m.poll()
	}
}

// poll hands what there is to the dispatcher, as session.consume does.
func (m *simMember) poll() {
	m.gate.Lock()
	defer m.gate.Unlock()
	room := simPoll
	for _, at := range m.takeDirty() {
		m.mu.Lock()
		from, ours := m.position[at]
		paused := m.rests(at) || m.rests(at.Topic)
		m.mu.Unlock()
		if !ours || paused {
			continue
		}
		records, to := m.group.broker.read(at, from, min(simPortion, room))
		m.mu.Lock()
		m.position[at] = to
		m.mu.Unlock()
		if room -= len(records); len(records) > 0 {
			m.touch(at) // there may be more
			m.take(at, records)
		}
	}
}

func (m *simMember) takeDirty() []partition.Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]partition.Place, 0, len(m.dirty))
	for at := range m.dirty {
		all = append(all, at)
	}
	clear(m.dirty)
	return all
}

func (m *simMember) take(at partition.Place, records []*kgo.Record) {
	_, retry := schemas.RetryDelayOf(at.Topic)
	jobs := make([]*dispatch.Job, len(records))
	for i, r := range records {
		if m.skew != 0 {
			once := *r
			shift(&once, -m.skew)
			r = &once
		}
		jobs[i] = dispatch.NewJob(r)
		if retry {
			jobs[i].Read()
		}
	}
	m.dispatcher.Take(at, jobs)
}

// reread reads parts of a partition once more, as session.reread does.
func (m *simMember) reread(r *dispatch.Reread) {
	for r != nil && waiting.Sleep(m.ctx, simReread) && !m.dead.Load() {
		records, next := m.group.broker.part(r.Place, r.From, simPortion)
		m.rereads.Add(int64(len(records)))
		if m.skew != 0 {
			for i, record := range records {
				once := *record
				shift(&once, -m.skew)
				records[i] = &once
			}
		}
		r = m.dispatcher.Bring(r, records, next)
	}
}
