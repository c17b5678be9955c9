package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/virtual"
)

const term = 8 * time.Second

// group stands for the one that is asked: it confirms the membership, or does not.
type fakeGroup struct {
	refuses atomic.Bool
	asked   atomic.Int64
}

func (g *fakeGroup) ask(context.Context) error {
	g.asked.Add(1)
	virtual.Sleep(time.Millisecond)
	if g.refuses.Load() {
		return kerr.UnknownMemberID
	}
	return nil
}

func newLease(g *fakeGroup) *Lease {
	l := New(term, g.ask, slog.New(slog.DiscardHandler))
	l.Begin()
	return l
}

func always() bool { return true }

// TestALeaseThatRuns is never asked about: the client's heartbeats renew it.
func TestALeaseThatRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g fakeGroup
		l := newLease(&g)
		for range 60 {
			virtual.Sleep(time.Second)
			l.OnBrokerE2E(kgo.BrokerMetadata{}, kmsg.Heartbeat.Int16(), kgo.BrokerE2E{ReadWait: 10 * time.Millisecond})
			if !l.Hold(t.Context(), always) {
				t.Fatal("held back")
			}
		}
		if g.asked.Load() > 0 {
			t.Errorf("asked %d times", g.asked.Load())
		}
	})
}

// TestWhatRenewsNoLease: requests that say nothing of the membership, heartbeats that
// failed, and one whose answer lay in the socket while the process was frozen.
func TestWhatRenewsNoLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		key kmsg.Key
		e2e kgo.BrokerE2E
	}{
		"another request":          {kmsg.Fetch, kgo.BrokerE2E{}},
		"a heartbeat that failed":  {kmsg.Heartbeat, kgo.BrokerE2E{ReadErr: errors.New("cut")}},
		"a heartbeat sent before":  {kmsg.Heartbeat, kgo.BrokerE2E{ReadWait: 7 * time.Second}},
		"a heartbeat that is late": {kmsg.Heartbeat, kgo.BrokerE2E{TimeToRead: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLease(&fakeGroup{})
				virtual.Sleep(term - 1)
				l.OnBrokerE2E(kgo.BrokerMetadata{}, c.key.Int16(), c.e2e)
				virtual.Sleep(2 * time.Second)
				if l.runs(time.Now()) {
					t.Error("the lease runs")
				}
			})
		})
	}
}

// TestALeaseThatHasRunOut holds back what would start until the group confirms the
// membership. The answer to the client's own heartbeat may be that it is none.
func TestALeaseThatHasRunOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g fakeGroup
		g.refuses.Store(true)
		l := newLease(&g)
		virtual.Sleep(20 * time.Second)
		l.OnBrokerE2E(kgo.BrokerMetadata{}, kmsg.Heartbeat.Int16(), kgo.BrokerE2E{})
		started := make(chan bool, 2)
		var ours atomic.Bool
		ours.Store(true)
		for range 2 {
			go func() { started <- l.Hold(t.Context(), ours.Load) }()
		}
		virtual.Sleep(10 * time.Second)
		synctest.Wait()
		if len(started) > 0 {
			t.Fatal("started, or given up, while the group says nothing")
		}
		g.refuses.Store(false)
		for range 2 {
			if !<-started {
				t.Error("held back after the group has confirmed the membership")
			}
		}
		if asked := g.asked.Load(); asked > 42 {
			t.Errorf("asked %d times in ten seconds, want one in a quarter of a second", asked)
		}
	})
}

// TestWhatIsNotWantedAnyMore is let go: the partition was lost, or the sink stops.
func TestWhatIsNotWantedAnyMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var g fakeGroup
		g.refuses.Store(true)
		l := newLease(&g)
		virtual.Sleep(term)
		var gone atomic.Bool
		time.AfterFunc(5*time.Second, func() { gone.Store(true) })
		if l.Hold(t.Context(), func() bool { return !gone.Load() }) {
			t.Error("started, though it was lost")
		}
		// What is lost and comes back is another assignment, which confirms the
		// membership: the old one's job is not to start on the strength of that.
		asked := 0
		g.refuses.Store(false)
		if l.Hold(t.Context(), func() bool { asked++; return asked == 1 }) {
			t.Error("started, though it was lost while the group was asked")
		}
		virtual.Sleep(2 * term)
		g.refuses.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if l.Hold(ctx, always) {
			t.Error("started after the end of its context")
		}
	})
}
