package stagefaults

import (
	"context"
	"errors"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// killRate is that of the calls, in calls per second.
	killRate = 100
	// takenAgain is when calls are accepted after the broker is back: it has to
	// recover its logs and elect itself first.
	takenAgain = time.Minute
	// atRest is when all that was accepted before has been delivered: sessions,
	// transactions and fetches that the kill cut off have run into their timeouts by
	// then, several times over.
	atRest = 90 * time.Second
)

// BrokerKill kills the broker and starts it again, time after time, under calls
// that two routers and two sinks under names of their own carry on. A real broker
// then has transactions open whose routers live, and offsets pending whose
// transaction it has to end by itself: whatever it forgets of them stands still for
// ever, which only a wait for the events of each cycle shows.
func BrokerKill(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	cycles := lab.Pick(l, 3, 50)
	k, err := newKillField(ctx, l)
	if err != nil {
		return nil, err
	}
	l.Announce("kill -9 of the broker and start, %d times", cycles)
	r := &report.Result{Faults: report.Faults{What: "kills of the broker", Claimed: cycles}}
	caller := load.Caller{URL: k.calls, WriteKey: lab.WriteKey, Producer: "calls", Keys: 101, Books: l.Books}
	calling, enough := context.WithCancel(ctx)
	defer enough()
	calls := make(chan int, 1)
	go func() { calls <- caller.Run(calling, killRate) }()
	for i := 0; i < cycles && err == nil && len(r.Broken) == 0; i++ {
		err = k.cycle(ctx, l, r)
	}
	enough()
	r.Note("of %d calls", <-calls)
	if err != nil {
		return nil, err
	}
	r.Note("a cycle's events delivered %s after calls were accepted again at most", k.slowest.Round(100*time.Millisecond))
	// What was delivered and could not be committed is delivered again: a second's
	// worth of each kill at most. A call that the broker's absence has refused is not
	// made again, and the order of sixteen connections is chance.
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{MinSent: cycles * killRate, MaxDoubled: cycles * killRate, MaxInverted: -1}, k.all...)
}

// killField is what the broker is killed under.
type killField struct {
	broker  lab.Mortal
	calls   string // URL of the collection API's track call
	all     []*child.Process
	slowest time.Duration // from the first call accepted again to the last event of before
}

func newKillField(ctx context.Context, l *lab.Lab) (*killField, error) {
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 1, Keys: 101, Sinks: 2, Calls: true})
	if err != nil {
		return nil, err
	}
	broker, mortal := l.Broker.(lab.Mortal)
	if !mortal {
		return nil, errors.New("the broker can't be started again")
	}
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	k := &killField{broker: broker, calls: "http://" + addr + "/v1/track"}
	for i, target := range []string{"ingest", "router", "router"} {
		// The bench has written to the destination's topic itself, which tells routers
		// that there were others before them.
		p, stageErr := l.Launch(ctx, target, i, "INGEST_ADDR="+addr, "ROUTER_START=first")
		if stageErr != nil {
			return nil, stageErr
		}
		k.all = append(k.all, p)
	}
	k.all = append(k.all, f.Sinks...)
	return k, nil
}

// cycle lets calls come, kills the broker, starts it again, and waits until all
// that was accepted before and some that came after have been delivered.
func (k *killField) cycle(ctx context.Context, l *lab.Lab, r *report.Result) error {
	chance := func(from, to time.Duration) time.Duration { return from + time.Duration(l.Rand.Int64N(int64(to-from))) }
	err := lab.InOrder(
		func() error { return lab.Pause(ctx, chance(2*time.Second, 6*time.Second)) },
		k.broker.Kill,
		func() error { r.Faults.Injected++; return lab.Pause(ctx, chance(0, 3*time.Second)) },
		k.broker.Start,
	)
	if err != nil {
		return err
	}
	sent := func() int { return l.Books.Tally(nil).Sent }
	before := sent()
	if err = child.Until(ctx, takenAgain, "calls to be accepted again", func() bool { return sent() >= before+killRate }); err != nil {
		return err
	}
	back := time.Now()
	open := func() int { return l.Books.Open(books.Span{To: back}) }
	err = child.Until(ctx, atRest, "", func() bool { return open() == 0 })
	k.slowest = max(k.slowest, time.Since(back))
	r.Require(err == nil, "%d events accepted before were not delivered %s after kill %d", open(), atRest, r.Faults.Injected)
	return ctx.Err()
}
