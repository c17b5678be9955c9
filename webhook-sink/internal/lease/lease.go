// Package lease keeps anything from starting that others may have been given.
//
// Timers of a process that was frozen fire before its next heartbeat is answered, and
// the client hears that it is no member any more a moment after it has read the
// answer. So once a lease has run out, only an answer of the group that was asked for
// it renews it (TestALeaseThatHasRunOut, TestASinkThatHearsNothingOfItsGroup).
package lease

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/waiting"
)

// Lease says whether the group can have given our partitions to others without our
// knowing: it does so when it has not heard of us for the term of a session. A process
// that was frozen for longer, or cut off from the brokers, would otherwise start what
// is due before its next heartbeat tells. It may be used by many goroutines.
type Lease struct {
	term time.Duration
	ask  func(context.Context) error
	log  *slog.Logger

	heard  atomic.Pointer[time.Time] // when what the group answered last was sent
	asking chan struct{}             // holds one while somebody asks
	asked  time.Time                 // when that was last; whoever asks has it
	silent logging.Sampler[logging.Kind]
}

// New returns a lease that has not begun. term is the group's session timeout, and ask
// asks the group whether we are a member.
func New(term time.Duration, ask func(context.Context) error, log *slog.Logger) *Lease {
	l := &Lease{term: term, ask: ask, log: log, asking: make(chan struct{}, 1)}
	l.heard.Store(new(time.Time))
	return l
}

// Begin begins the lease: the group has just taken us up.
func (l *Lease) Begin() { l.renew(time.Now()) }

// OnBrokerE2E implements [kgo.HookBrokerE2E]: the client's heartbeats renew a lease that
// runs. What the group said in one is not known here, so none renews a lease that has
// run out: its answer may be that we are a member no more.
func (l *Lease) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	now := time.Now()
	if key == kmsg.Heartbeat.Int16() && e2e.Err() == nil && l.runs(now) {
		l.renew(now.Add(-e2e.DurationE2E()))
	}
}

func (l *Lease) renew(sent time.Time) { l.heard.Store(&sent) }

// runs goes by both clocks: while a machine sleeps the monotonic one may stand still,
// and the wall clock may be set.
func (l *Lease) runs(now time.Time) bool {
	heard := *l.heard.Load()
	return max(now.Sub(heard), now.Round(0).Sub(heard.Round(0))) < l.term
}

const (
	askTime  = 3 * time.Second
	askAgain = 250 * time.Millisecond
)

// Hold returns true when the lease runs, which as a rule is at once. If it has run out,
// it asks the group until that says that we are a member. It returns false when what it
// is held for is not wanted any more, or ctx ends.
func (l *Lease) Hold(ctx context.Context, wanted func() bool) bool {
	if l.runs(time.Now()) {
		return true
	}
	for wanted() {
		if l.runs(time.Now()) || l.renewed(ctx) {
			return wanted()
		}
		if !waiting.Sleep(ctx, askAgain) {
			return false
		}
	}
	return false
}

// renewed asks the group, unless somebody does so already or has done just now, and reports
// whether that has renewed the lease.
func (l *Lease) renewed(ctx context.Context) bool {
	select {
	case l.asking <- struct{}{}:
		defer func() { <-l.asking }()
	default:
		return false
	}
	sent := time.Now()
	if sent.Sub(l.asked) < askAgain {
		return false
	}
	l.asked = sent
	if _, ok := l.silent.Admit(logging.Kind{}, sent); ok {
		l.log.Warn("no answer from the group for longer than a session, holding back attempts until it confirms the membership",
			"silent", time.Since(*l.heard.Load()).Round(time.Millisecond))
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if err := l.ask(ctx); err != nil {
		l.log.Debug("the group does not confirm the membership", "error", err)
		return false
	}
	l.renew(sent)
	return l.runs(time.Now())
}
