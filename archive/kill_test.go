package archive

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/kafka/policy"
	"github.com/anabranch/anabranch/internal/kafka/topics"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/test/testkit"
)

// life is that of a process, which ends after some moments: before an object is stored,
// behind it, at a commit that is on its way. From then on the brokers hear no more of it, and
// neither does the store; but of one that is merely cut off from the brokers, and goes on
// writing until it notices.
type life struct {
	stop   context.CancelFunc
	ended  chan error
	zombie bool

	mu      sync.Mutex
	moments int
	conns   []net.Conn
	over    chan struct{} // closed at the last moment
}

var errDead = errors.New("the process is dead")

// moment lets one pass, and reports whether the process lives.
func (l *life) moment() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moments--; l.moments == 0 {
		close(l.over)
		for _, conn := range l.conns {
			_ = conn.Close()
		}
	}
	return l.moments > 0
}

// OnBrokerWrite is a moment when a commit has left the process.
func (l *life) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	if key == kmsg.OffsetCommit.Int16() {
		l.moment()
	}
}

// dial connects to brokers while the process lives.
func (l *life) dial(with func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := with(ctx, network, address)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil && l.moments <= 0 {
			_ = conn.Close()
			return nil, errDead
		}
		l.conns = append(l.conns, conn)
		return conn, err
	}
}

// mortal is the store of a process.
type mortal struct {
	objects.Store
	*life

	seen *witness
}

func (m mortal) Put(ctx context.Context, name string, body []byte) error {
	if !m.moment() && !m.zombie {
		return errDead
	}
	if err := m.Store.Put(ctx, name, body); err != nil {
		return err
	}
	m.seen.note(name, body)
	if !m.moment() && !m.zombie {
		return errDead
	}
	return nil
}

// witness has seen all that was ever written: under each name the same bytes.
type witness struct {
	mu     sync.Mutex
	bodies map[string][]byte
	again  int
	broken []string
}

func (w *witness) note(name string, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, there := w.bodies[name]; there {
		w.again++
		if !slices.Equal(before, body) {
			w.broken = append(w.broken, name)
		}
	}
	w.bodies[name] = slices.Clone(body)
}

// start has a process live for so many moments.
func (b *bench) start(seen *witness, moments int, zombie bool) *life {
	b.t.Helper()
	l := &life{zombie: zombie, moments: moments, ended: make(chan error, 1), over: make(chan struct{})}
	ctx, stop := context.WithCancel(b.t.Context())
	l.stop = stop
	options := append(b.cluster.Options(), kgo.Dialer(l.dial(b.cluster.Dial)), kgo.WithHooks(l))
	client, err := kgo.NewClient(options...)
	if err != nil {
		b.t.Fatal(err)
	}
	m := b.make(func(_ *Config, s *Settings) {
		s.Kafka, s.Topics = options, topics.New(client, policy.Config{Embedded: true, Replication: 1})
	})
	m.places.store = func(at objects.Place) (objects.Store, error) {
		s, err := objects.Open(at)
		return mortal{s, l, seen}, err
	}
	go func() {
		err := m.Run(ctx)
		client.Close()
		l.ended <- err
	}()
	return l
}

// end waits for what is left of a process.
func (l *life) end(tb testing.TB) {
	tb.Helper()
	l.stop()
	if err := <-l.ended; err != nil {
		tb.Errorf("Run returned %v", err)
	}
}

// kills is how often a process is killed.
const kills = 100

// TestKilledAHundredTimes: a process ends at a moment that nobody chose, and another one goes
// on with other limits: each line is in one object, once, and what is written twice has the
// same bytes.
func TestKilledAHundredTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		b := newBench(t, testkit.Virtual(t), 2, cold("cold", dir, 1_000))
		topic := b.live.Load().Destinations()[0].Topic()
		seen := &witness{bodies: make(map[string][]byte)}
		luck := rand.New(rand.NewPCG(7, 7))
		var zombies []*life
		for range kills {
			b.live.Store(snapshot(cold("cold", dir, 2_000+luck.IntN(8_000))))
			b.produce(topic, 2, 20+luck.IntN(40))
			l := b.start(seen, 1+luck.IntN(20), luck.IntN(3) == 0)
			for alive := true; alive; {
				select {
				case <-l.over:
					alive = false
				case <-time.After(3 * time.Second):
					b.produce(topic, 2, 4)
				}
			}
			if l.zombie {
				zombies = append(zombies, l)
			} else {
				l.end(t)
			}
		}
		for _, l := range zombies {
			l.end(t)
		}
		m := b.make()
		stop := b.run(m)
		testkit.Until(t, func() bool { return b.done(topic) }, "all is archived")
		stop()
		b.compare(dir, seen)
	})
}

func (b *bench) compare(dir string, seen *witness) {
	b.t.Helper()
	all := archived(b.t, dir)
	b.check(all)
	if len(seen.broken) > 0 {
		b.t.Errorf("written again with other bytes: %v", seen.broken)
	}
	for name, body := range seen.bodies {
		if name != objects.ClaimName && !slices.Equal(all[name], body) {
			b.t.Errorf("%s is not what was written last", name)
		}
	}
	if seen.again < kills/10 {
		b.t.Errorf("%d objects were written again: kills did not come between an object and its commit", seen.again)
	}
	b.t.Logf("%d lines in %d objects, %d written again", b.sent, len(all), seen.again)
}
