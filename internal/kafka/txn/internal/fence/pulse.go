// Package fence tells a rival, who uses our transactional id or our name in the group,
// from what looks like one: brokers say the same of what they did themselves.
package fence

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka"
)

const (
	// SessionTimeout is after which a group misses a member that sends no heartbeat.
	// Measured with processes killed every three seconds: without a static member, short
	// timeouts and a short transaction timeout one kill -9 cost 20 s of silence, and a
	// few of them stalled the group for minutes.
	SessionTimeout = 8 * time.Second

	// silence is how long the coordinator may take for its next answer: a member
	// sends a heartbeat every second.
	silence = SessionTimeout / 2
	// aftermath is how long answers may be to what was sent before a silence.
	aftermath = SessionTimeout
)

// Pulse hears the answers of brokers during one session, above all of the group's
// coordinator. It may be used by many goroutines.
type Pulse struct {
	mu     sync.Mutex
	last   time.Time // an answer came
	broken time.Time // the last silence ended; zero: there was none
	cuts   int
	tell   func() // of a cut; nil: nobody
}

// NewPulse returns the pulse of a session that begins now.
func NewPulse(now time.Time) *Pulse { return &Pulse{last: now} }

// OnBrokerE2E implements [kgo.HookBrokerE2E].
func (p *Pulse) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, exchange kgo.BrokerE2E) {
	if exchange.Err() != nil {
		p.cut()
	}
	if coordinators := []kmsg.Key{kmsg.Heartbeat, kmsg.JoinGroup, kmsg.SyncGroup, kmsg.OffsetFetch, kmsg.TxnOffsetCommit}; exchange.Err() == nil && slices.Contains(coordinators, kmsg.Key(key)) {
		p.beat(time.Now())
	}
}

func (p *Pulse) cut() {
	p.mu.Lock()
	p.cuts++
	tell := p.tell
	p.mu.Unlock()
	if tell != nil {
		tell()
	}
}

// Tell has tell called behind each cut from now on, instead of who was told before.
func (p *Pulse) Tell(tell func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell = tell
}

// Cuts is how many requests, to whichever broker, have lost their answer with the
// connection so far. A broker that ends without a word shows at once, since there is
// always a fetch under way; so does the client itself when its partitions change, and gives
// up a fetch.
func (p *Pulse) Cuts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

func (p *Pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.last) >= silence {
		p.broken = now
	}
	p.last = now
}

// Interrupted reports whether the coordinator is silent or was so a moment ago, or
// this process had stood still.
func (p *Pulse) Interrupted(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Sub(p.last) >= silence || !p.broken.IsZero() && now.Sub(p.broken) < aftermath
}

// Rival reports whether an error shows that another process took over the place or the
// id of this one. Open is how long a transaction had been open, 0 where there was none.
// Brokers abort one that is open for longer than timeout, and a request that they find
// after a silence may be one of ours that we have long sent again. That there is no
// transaction to end (INVALID_TXN_STATE) says nothing of who has the id.
func Rival(err error, open, timeout time.Duration, interrupted bool) bool {
	return kafka.Fenced(err) && !errors.Is(err, kerr.InvalidTxnState) && !interrupted && open < timeout
}
