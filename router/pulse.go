package router

import (
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// silence is how long the coordinator may take for its next answer: a member
	// sends a heartbeat every second.
	silence = sessionTimeout / 2
	// aftermath is how long answers may be to what was sent before a silence.
	aftermath = sessionTimeout
)

// pulse hears the answers of the group's coordinator during one session. It may be
// used by many goroutines.
type pulse struct {
	mu     sync.Mutex
	last   time.Time // an answer came
	broken time.Time // the last silence ended; zero: there was none
}

func newPulse(now time.Time) *pulse { return &pulse{last: now} }

// OnBrokerE2E implements [kgo.HookBrokerE2E].
func (p *pulse) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, exchange kgo.BrokerE2E) {
	if coordinators := []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetFetch, kmsg.TxnOffsetCommit}; exchange.Err() == nil && slices.Contains(coordinators, kmsg.Key(key)) {
		p.beat(time.Now())
	}
}

func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.last) >= silence {
		p.broken = now
	}
	p.last = now
}

// interrupted reports whether the coordinator is silent or was so a moment ago.
func (p *pulse) interrupted(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Sub(p.last) >= silence || !p.broken.IsZero() && now.Sub(p.broken) < aftermath
}
