package replay

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/regulation"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
)

// process is a service behind a network of its own, which can be killed.
type process struct {
	stop func()

	mu    sync.Mutex
	dead  bool
	conns []net.Conn
}

// process starts one.
func (b *bench) process(t *testing.T) *process {
	t.Helper()
	p := new(process)
	s := b.service(t, func(set *Settings) {
		set.Kafka = append(b.Options(), kgo.Dialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.dead {
				return nil, errors.New("killed")
			}
			conn, err := b.Dial(ctx, network, addr)
			if err == nil {
				p.conns = append(p.conns, conn)
			}
			return conn, err
		}))
	})
	p.stop = testkit.Start(t, s.Run)
	return p
}

// kill cuts the process off: to the brokers it is as dead as after a kill -9.
func (p *process) kill() {
	p.mu.Lock()
	p.dead = true
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.mu.Unlock()
	p.stop()
}

// TestWhateverHappens: processes are killed, stopped and started, destinations go down, and
// people pause the run and change its rate. Each destination is sent each event once, those
// of each user in their order, and nothing while the run is paused.
func TestWhateverHappens(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { whatever(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func whatever(t *testing.T, rng *rand.Rand) {
	t.Helper()
	const n, steps = 1_500, 15
	b := newBenchOn(t, testkit.Virtual(t), "crm", "lake")
	b.fill(t, n)
	f := &fate{bench: b, rng: rng, run: b.ask(t, func(r *Run) { r.Rate = 10 }), stopCRM: b.drain(t, "crm")}
	b.drain(t, "lake")
	f.alive = []*process{b.process(t)}
	for range steps {
		if b.entry(t, f.run.ID).Over() {
			break
		}
		f.strike(t)
		virtual.Sleep(time.Duration(rng.IntN(15_000)) * time.Millisecond)
	}
	b.process(t)
	if !b.entry(t, f.run.ID).Over() {
		f.change(t, func(r *Run) { r.Rate = MaxRate })
		virtual.Sleep(2 * time.Minute)
	}
	e := b.entry(t, f.run.ID)
	for _, id := range f.run.Destinations {
		if p := e.Parts[id]; p == nil || p.State != Done || p.Sent != n {
			t.Errorf("%s: %+v, want %d events sent", id, p, n)
		}
		b.once(t, id, f.run.ID, n)
	}
}

// fate is what happens to a run.
type fate struct {
	*bench

	rng     *rand.Rand
	run     *Run
	alive   []*process
	stopCRM func()
}

// strike does one of the things that happen.
func (f *fate) strike(t *testing.T) {
	t.Helper()
	switch f.rng.IntN(6) {
	case 0:
		f.alive = append(f.alive, f.process(t))
	case 1:
		f.end((*process).kill)
	case 2:
		f.end(func(p *process) { p.stop() })
	case 3:
		f.pause(t)
	case 4:
		f.change(t, func(r *Run) { r.Rate = 1 + f.rng.IntN(60) })
	case 5:
		f.stopCRM()
		virtual.Sleep(time.Duration(f.rng.IntN(40)) * time.Second)
		f.stopCRM = f.drain(t, "crm")
	}
}

// end ends one of the processes.
func (f *fate) end(how func(*process)) {
	if len(f.alive) > 0 {
		i := f.rng.IntN(len(f.alive))
		how(f.alive[i])
		f.alive = slices.Delete(f.alive, i, i+1)
	}
}

// pause pauses the run for a minute, in which nothing may be sent.
func (f *fate) pause(t *testing.T) {
	t.Helper()
	f.change(t, func(r *Run) { r.Wish = Paused })
	virtual.Sleep(time.Second)
	before := f.entry(t, f.run.ID).Sent()
	virtual.Sleep(time.Minute)
	if now := f.entry(t, f.run.ID).Sent(); now != before {
		t.Errorf("%d events were sent while the run was paused", now-before)
	}
	f.change(t, func(r *Run) { r.Wish = Running })
}

func (f *fate) change(t *testing.T, change func(*Run)) {
	t.Helper()
	o := &Operator{Kafka: f.Options(), Topics: f.topics}
	if _, err := o.Change(t.Context(), f.run.ID, func(r *Run) error { change(r); return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestAKilledProcessIsFollowed, after the time in which it would have said something.
func TestAKilledProcessIsFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm")
		b.fill(t, 600)
		r := b.ask(t, func(r *Run) { r.Rate = 10 })
		b.drain(t, "crm")
		first := b.process(t)
		second := b.process(t)
		virtual.Sleep(5 * time.Second)
		holder := b.entry(t, r.ID).Claim.Token
		virtual.Sleep(30 * time.Second)
		if now := b.entry(t, r.ID).Claim.Token; now != holder {
			t.Errorf("the run went from %q to %q, though nobody had died", holder, now)
		}
		first.kill()
		second.kill()
		before := b.entry(t, r.ID).Sent()
		b.process(t)
		virtual.Sleep(standsStill - time.Second)
		if now := b.entry(t, r.ID).Sent(); now != before {
			t.Errorf("sent %d more before the run had stood still", now-before)
		}
		virtual.Sleep(time.Minute)
		b.once(t, "crm", r.ID, 600)
	})
}

// TestADestinationThatIsDown holds up its own part alone, after what may wait for it.
func TestADestinationThatIsDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm", "lake")
		b.fill(t, 3_000)
		r := b.ask(t, func(r *Run) { r.Rate = 200 })
		b.drain(t, "lake")
		b.process(t)
		virtual.Sleep(30 * time.Second)
		e := b.entry(t, r.ID)
		if p := e.Parts["lake"]; p.State != Done || p.Sent != 3_000 {
			t.Errorf("lake: %+v", p)
		}
		if p := e.Parts["crm"]; p.State != Open || p.Sent < leastRoom*9/10 || p.Sent > leastRoom {
			t.Errorf("crm: %+v, want about %d events sent", p, leastRoom)
		}
		if text := e.Claim.Trouble["crm"]; len(e.Claim.Trouble) != 1 || text == "" {
			t.Errorf("trouble: %v", e.Claim.Trouble)
		}
		b.drain(t, "crm")
		virtual.Sleep(30 * time.Second)
		if e = b.entry(t, r.ID); !e.Over() || e.Claim.Token != "" || len(e.Claim.Trouble) != 0 {
			t.Errorf("state %s, claim %+v", e.State(), e.Claim)
		}
		b.once(t, "crm", r.ID, 3_000)
	})
}

// TestPauseAndCancel: a wish is heard of within a second, and a run that is cancelled says
// what it has sent, and stays so.
func TestPauseAndCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm")
		b.fill(t, 2_000)
		r := b.ask(t, func(r *Run) { r.Rate = 50 })
		b.drain(t, "crm")
		b.process(t)
		o := &Operator{Kafka: b.Options(), Topics: b.topics}
		change := func(wish Wish) error {
			_, err := o.Change(t.Context(), r.ID, func(r *Run) error { r.Wish = wish; return nil })
			return err
		}
		virtual.Sleep(10 * time.Second)
		if err := change(Paused); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(time.Second)
		paused := b.entry(t, r.ID)
		if paused.State() != "paused" || paused.Claim.Token != "" || paused.Sent() < 400 || paused.Sent() > 600 {
			t.Errorf("%s with %d sent, claim %+v", paused.State(), paused.Sent(), paused.Claim)
		}
		if left, ok := paused.Remaining(); !ok || left < 20*time.Second || left > 45*time.Second {
			t.Errorf("about %s left, want 30s", left)
		}
		if err := change(Cancelled); err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(2 * time.Second)
		e := b.entry(t, r.ID)
		if e.State() != "cancelled" || !e.Over() || e.Sent() != paused.Sent() {
			t.Errorf("%s with %d sent, want cancelled with %d", e.State(), e.Sent(), paused.Sent())
		}
		if err := change(Running); err == nil {
			t.Error("a run that was cancelled goes on")
		}
		b.once(t, "crm", r.ID, int(e.Sent()))
	})
}

// TestTermsThatChange while a run is under way: what comes after a destination was removed, or
// a user was suppressed, is left out and counted, and the run comes to its end.
func TestTermsThatChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBenchOn(t, testkit.Virtual(t), "crm", "lake")
		b.fill(t, 2_000)
		r := b.ask(t, func(r *Run) { r.Rate = 50 })
		b.drain(t, "crm", "lake")
		register := regulation.NewRegister(nil, nil)
		s := b.service(t, func(set *Settings) { set.Register = register })
		testkit.Start(t, s.Run)
		virtual.Sleep(10 * time.Second)
		b.live.Store(connected("lake"))
		suppress(t, register, "u3")
		virtual.Sleep(time.Minute)
		e := b.entry(t, r.ID)
		crm, lake := e.Parts["crm"], e.Parts["lake"]
		if crm.State != Done || crm.Sent < 400 || crm.Sent > 700 || crm.Sent+crm.Left[Unconnected]+crm.Left[Suppressed] != 2_000 {
			t.Errorf("crm, which was removed: %+v", crm)
		}
		if left := lake.Left[Suppressed]; lake.State != Done || left == 0 || left > 200 || lake.Sent+left != 2_000 {
			t.Errorf("lake: %+v", lake)
		}
		b.once(t, "crm", r.ID, int(crm.Sent))
		b.once(t, "lake", r.ID, int(lake.Sent))
	})
}

// TestTheRemainingTime is known to a fifth once a tenth of the range is read: of a short run, which
// begins with a second of its rate, and of one that leaves most out.
func TestTheRemainingTime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events, rate int
		event        string
	}{
		"short":         {events: 1_500, rate: 100},
		"long":          {events: 20_000, rate: 100},
		"most left out": {events: 20_000, rate: 20, event: "e3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBenchOn(t, testkit.Virtual(t), "crm")
				b.fill(t, c.events)
				r := b.ask(t, func(r *Run) { r.Rate, r.Choice.Event = c.rate, c.event })
				b.drain(t, "crm")
				b.process(t)
				var told time.Duration
				var at time.Time
				for e := b.entry(t, r.ID); !e.Over(); e = b.entry(t, r.ID) {
					if left, ok := e.Remaining(); at.IsZero() && ok && e.Read() >= r.Events()/10 {
						told, at = left, time.Now()
					}
					virtual.Sleep(100 * time.Millisecond)
				}
				if took := time.Since(at); told < took*8/10 || told > took*12/10 {
					t.Errorf("about %s were left after a tenth, and it took %s", told, took)
				}
			})
		})
	}
}
