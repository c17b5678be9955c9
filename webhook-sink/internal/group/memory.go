package group

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// Memory is what this process has committed, in all its sessions: brokers may go back
// behind what they have confirmed. The zero value is ready, and none remembers nothing.
// It may be used by many goroutines.
type Memory struct {
	mu   sync.Mutex
	last map[partition.Place]remembered
}

// remembered is the last commit of a partition.
type remembered struct {
	of   offsets.Origin
	at   kgo.EpochOffset
	done string
}

// note remembers what was committed.
func (m *Memory) note(marks []partition.Watermark) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil {
		m.last = make(map[partition.Place]remembered)
	}
	for _, w := range marks {
		m.last[w.Place] = remembered{offsets.OriginOf(w.ID), w.At, w.Done}
	}
}

// beyond returns what was committed of a partition beyond the commit that the group
// shows, which has to be a sink's and of the same topic: those go forward alone. An
// offset that somebody has set does not say of which topic it is, and is the last word.
// Without an epoch nobody could see whether the log still is the one that was read.
func (m *Memory) beyond(at partition.Place, shown commit) (remembered, bool) {
	if m == nil {
		return remembered{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	last, ok := m.last[at]
	if !ok || last.at.Offset <= shown.offset {
		return remembered{}, false
	}
	if shown.of == 0 || shown.of != last.of || last.at.Epoch < 0 {
		delete(m.last, at)
		return remembered{}, false
	}
	return last, true
}
