package work

import (
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// simBooks are what really happened, seen from outside of the sink.
type simBooks struct {
	keepAll bool // attempts and POSTs one by one, beside the sums

	mu     sync.Mutex
	events []simEvent
	hosts  map[string]*simHostBook
	open   int // events that have not ended
	posts  []simPost
	// noticed is since when each member finds a receiver up.
	noticed map[*simMember]time.Time
}

// simEvent is what became of an event.
type simEvent struct {
	created   time.Time
	begun     time.Time // the first attempt, or the first that was withheld
	tried     time.Time // the last attempt that was made
	delivered time.Time // by the receiver's clock; zero: it was not
	died      time.Time
	reason    schemas.Reason
	over      bool // it has ended
	reserved  bool // it was given a slot in the future
	attempts  int  // made
	withheld  int
	writes    int // records on retry topics and dead-letters
	hops      int // of them without an attempt
	taken     int // attempts that a receiver took
	dead      int // dead letters
	log       []simAttempt
	ends      []simEnding
}

type simAttempt struct {
	event   int
	member  *simMember
	began   time.Time
	took    time.Duration
	outcome outcome.Outcome
	last    bool
}

type simEnding struct {
	fate   schedule.Fate
	member *simMember
	first  bool // a first attempt, not a retry
	at     time.Time
}

type simPost struct {
	host  string
	event int
	at    time.Time
	simAnswer
}

type simHostBook struct {
	posts, refused int
	up             time.Time // the first success since the last failure
	seen           []int     // requests in each second since then
	firsts         []int     // requests in the first second after each return
}

// down notes that a receiver failed.
func (h *simHostBook) down() { h.up, h.seen = time.Time{}, nil }

// answered notes a request that a receiver took.
func (h *simHostBook) answered(at time.Time) {
	if h.up.IsZero() {
		h.up, h.firsts = at, append(h.firsts, 0)
	}
	second := int(at.Sub(h.up) / time.Second)
	for len(h.seen) <= second {
		h.seen = append(h.seen, 0)
	}
	h.seen[second]++
	if second == 0 {
		h.firsts[len(h.firsts)-1]++
	}
}

func newSimBooks() *simBooks {
	return &simBooks{hosts: make(map[string]*simHostBook), noticed: make(map[*simMember]time.Time)}
}

func (b *simBooks) created() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, simEvent{created: time.Now()})
	b.open++
	return len(b.events) - 1
}

func (b *simBooks) host(name string) *simHostBook {
	h := b.hosts[name]
	if h == nil {
		h = &simHostBook{}
		b.hosts[name] = h
	}
	return h
}

func (b *simBooks) refused(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.host(host)
	h.refused++
	h.down()
}

func (b *simBooks) posted(host string, event int, at time.Time, a simAnswer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.host(host)
	h.posts++
	if a.ok {
		h.answered(at)
	} else {
		h.down()
	}
	if b.keepAll {
		b.posts = append(b.posts, simPost{host, event, at, a})
	}
}

func (b *simBooks) attempted(a simAttempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &b.events[a.event]
	if e.begun.IsZero() {
		e.begun = a.began
	}
	switch a.outcome.Verdict {
	case outcome.Withheld:
		e.withheld++
		delete(b.noticed, a.member)
	case outcome.Delivered:
		e.taken++
		e.delivered = a.began.Add(a.took)
		if b.noticed[a.member].IsZero() {
			b.noticed[a.member] = e.delivered
		}
		fallthrough
	default:
		e.attempts++
		e.tried = a.began
	}
	if b.keepAll {
		e.log = append(e.log, a)
	}
}

func (b *simBooks) written(r *kgo.Record) {
	event := eventOf(r.Value)
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &b.events[event]
	e.writes++
	if r.Topic == schemas.TopicDeadLetters {
		e.dead++
		e.died = time.Now()
	}
}

func (b *simBooks) ended(m *simMember, j *dispatch.Job, f schedule.Fate) {
	event := eventOf(j.Record.Value)
	b.mu.Lock()
	defer b.mu.Unlock()
	e := &b.events[event]
	switch f.Ending {
	case schedule.Hopped:
		e.hops++
		e.reserved = e.reserved || f.Headers.Reserved
	case schedule.Dead:
		e.reason = f.Headers.Reason
		b.close(e)
	case schedule.Delivered:
		b.close(e)
	case schedule.Retried, schedule.Withheld, schedule.Unfinished:
	}
	if b.keepAll {
		e.ends = append(e.ends, simEnding{f, m, !j.IsRetry(), time.Now()})
	}
}

// close notes that an event has ended, which it may do twice after a kill.
func (b *simBooks) close(e *simEvent) {
	if !e.over {
		e.over = true
		b.open--
	}
}

// running is how many events have not ended.
func (b *simBooks) running() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}
