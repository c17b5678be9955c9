package stagefaults

import (
	"context"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// replayRate is that of a run under kills, in events per second. A process that takes
	// it up begins a second of it afresh.
	replayRate = 200
	// pastName is the producer of what is replayed.
	pastName = "past"
	// liveRate is that of the calls beside it, in calls per second.
	liveRate = 50
	// goesOn is when a run has gone on after a kill: routers of their own wait for twenty
	// seconds before they take one over.
	goesOn = time.Minute
)

// KillReplay kills whole processes (router, sink and all) that carry a replay out, and
// whose calls go on: with their embedded broker, or two of them on brokers that live on.
// The run must send each event once, and those that are live must not suffer.
func KillReplay(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	kills, past := lab.Pick(l, 3, 50), lab.Pick(l, 3_000, 40_000)
	p, err := newPast(ctx, l)
	if err != nil {
		return nil, err
	}
	if err = p.fill(ctx, l, past); err != nil {
		return nil, err
	}
	if err = p.start(ctx, l); err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills of a process", Claimed: kills}}
	live := load.Caller{URL: p.api + "/v1/track", WriteKey: lab.WriteKey, Producer: "live", Keys: 101, Books: l.Books}
	calling, enough := context.WithCancel(ctx)
	defer enough()
	calls := make(chan int, 1)
	go func() { calls <- live.Run(calling, liveRate) }()
	l.Announce("kill -9 of a process that may carry the replay out, %d times, each once the run has gone on", kills)
	for range kills {
		if err = p.kill(ctx, l); err != nil {
			return nil, err
		}
		r.Faults.Injected++
	}
	for _, of := range p.processes {
		if err = of.Ready(ctx); err != nil {
			return nil, err
		}
	}
	enough()
	r.Note("of %d live calls", <-calls)
	return r, p.finish(ctx, l, r)
}

// past is what is replayed, and to whom.
type past struct {
	processes []*child.Process
	api       string // URL of the collection API of the first
	late      string // id of the destination that gets it
	receiver  *books.Books
	client    *kgo.Client
	run       string // id of the replay
	events    int    // of the past
	sent      int64  // by the run, when it was last seen
}

func newPast(ctx context.Context, l *lab.Lab) (*past, error) {
	p := &past{late: l.ID("late"), receiver: books.New(l.Books.Run())}
	n := 1
	if l.Foreign() {
		n = 2
		if err := l.Open(ctx, 6); err != nil {
			return nil, err
		}
	}
	for i := range n {
		of, api, err := l.Whole(i)
		if err != nil {
			return nil, err
		}
		if err = of.Launch(ctx); err != nil {
			return nil, err
		}
		if p.processes = append(p.processes, of); i == 0 {
			p.api = "http://" + api
		}
	}
	cl, err := kgo.NewClient(l.Kafka...)
	if err != nil {
		return nil, err
	}
	l.OnClose(cl.Close)
	p.client = cl
	to, err := l.Receivers(ctx, 1)
	if err != nil {
		return nil, err
	}
	l.Destination("live", 1, to[0].URL())
	return p, l.Define(ctx, "")
}

// fill makes the calls of the past, which the other destination gets: what it has, a
// router has read.
func (p *past) fill(ctx context.Context, l *lab.Lab, n int) error {
	const batch = 100
	caller := load.Caller{URL: p.api + "/v1/batch", WriteKey: lab.WriteKey, Producer: pastName, Keys: 101, Books: l.Books, Batch: batch, Senders: 1}
	calling, enough := context.WithTimeout(ctx, time.Duration(n/batch)*time.Second/20)
	defer enough()
	caller.Run(calling, 20)
	if _, err := l.Drain(ctx, time.Minute); err != nil {
		return err
	}
	logged, err := l.Count(ctx, schemas.TopicRawEvents, pastName, l.Books.Tally(nil).Sent, func(*schemas.Headers) bool { return true })
	p.events = len(logged)
	return err
}

// start has all that there is replayed to a destination that is new.
func (p *past) start(ctx context.Context, l *lab.Lab) error {
	to := time.Now().Truncate(time.Second).Add(time.Second)
	if err := lab.Pause(ctx, time.Until(to)); err != nil {
		return err
	}
	receiver, err := l.Receiver(ctx, p.receiver)
	if err != nil {
		return err
	}
	l.Destination("late", 1, receiver.URL())
	if err = l.Define(ctx, ""); err != nil {
		return err
	}
	var begun struct{ ID string }
	err = l.Ask(ctx, &begun, "replay", "start", "--json", "--from", l.Began().UTC().Format(time.RFC3339),
		"--to", to.UTC().Format(time.RFC3339), "--destination", p.late, "--rate", strconv.Itoa(replayRate))
	p.run = begun.ID
	return err
}

// kill waits until the run has gone on since the last kill, and kills a process some time
// later.
func (p *past) kill(ctx context.Context, l *lab.Lab) error {
	err := child.Until(ctx, goesOn, "the replay to go on", func() bool {
		now := p.written(ctx)
		if now <= p.sent {
			return false
		}
		p.sent = now
		return true
	})
	if err != nil {
		return err
	}
	of := p.processes[l.Rand.IntN(len(p.processes))]
	return lab.InOrder(
		func() error { return lab.Pause(ctx, time.Duration(l.Rand.Int64N(int64(time.Second)))) },
		of.Kill,
		func() error { p.sent = max(p.sent, p.written(ctx)); return nil },
		of.Start,
	)
}

// written is about how much the run has sent: markers of transactions count too. Brokers
// that are gone say zero.
func (p *past) written(ctx context.Context) (n int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	all, err := ranges.List(ctx, p.client, schemas.ReplayTopic(p.late), time.Time{})
	if err != nil {
		return 0
	}
	for _, each := range all {
		n += each.End
	}
	return n
}

// finish lets the run come to its end, and judges what it has sent and what has arrived.
func (p *past) finish(ctx context.Context, l *lab.Lab, r *report.Result) error {
	var said struct {
		State string
		Sent  int
	}
	err := lab.InOrder(
		func() error { return l.Ask(ctx, &said, "replay", "rate", "--json", p.run, "5000") },
		func() error {
			r.Require(said.State == "running" || said.State == "waiting", "the replay is %s after the last kill: it was not killed under way", said.State)
			return l.Ask(ctx, &said, "replay", "show", "--json", "--wait", p.run)
		},
		func() error { return p.judgeSent(ctx, l, r) },
		func() error { return p.judgeArrived(ctx, l, r) },
	)
	if err != nil {
		return err
	}
	r.Require(said.State == "done" && said.Sent == p.events, "the replay says %+v, expected %d events", said, p.events)
	return l.Finish(ctx, r, time.Minute, report.Bounds{
		MinSent: p.events, MaxDoubled: r.Faults.Claimed * lab.InFlight, MaxInverted: -1,
	}, p.processes...)
}

// judgeSent reads what the run has sent: each event of the past, once.
func (p *past) judgeSent(ctx context.Context, l *lab.Lab, r *report.Result) error {
	sent, err := l.Count(ctx, schemas.ReplayTopic(p.late), pastName, p.events, func(h *schemas.Headers) bool { return h.Run == p.run })
	missing, twice := p.events-len(sent), lab.Twice(sent)
	r.Note("replayed %d of %d, %d missing, %d twice", len(sent), p.events, missing, twice)
	r.Require(missing == 0 && twice == 0, "the run has sent %d events of %d, %d of them twice", len(sent), p.events, twice)
	return err
}

// judgeArrived holds what the late destination has got against the log. Deliveries of a
// sink that was killed are made again; the run has sent each once.
func (p *past) judgeArrived(ctx context.Context, l *lab.Lab, r *report.Result) error {
	var err error
	_ = child.Until(ctx, time.Minute, "", func() bool {
		err = load.ReadTopic(ctx, l.Kafka, schemas.TopicRawEvents, p.receiver.Promised)
		return err == nil && p.receiver.Tally(nil).Sent >= l.Books.Tally(nil).Sent
	})
	if err != nil {
		return err
	}
	_ = child.Until(ctx, time.Minute, "", func() bool { return p.receiver.Tally(nil).Lost == 0 })
	got := p.receiver.Tally(nil)
	bound := 2 * r.Faults.Claimed * lab.InFlight
	replayed := p.receiver.Tally(func(producer string) bool { return producer == pastName })
	r.Note("at its destination %d events, live ones among them, %d lost, %d delivered again by sinks, %d replayed ones out of order", got.Sent, got.Lost, got.Doubled, replayed.Inverted)
	r.Require(got.Lost == 0, "%d events are missing at the destination of the replay", got.Lost)
	r.Require(got.Doubled <= bound, "%d events were delivered again there instead of at most %d", got.Doubled, bound)
	r.Require(replayed.Inverted == 0, "%d replayed events of a user overtook another", replayed.Inverted)
	return nil
}
