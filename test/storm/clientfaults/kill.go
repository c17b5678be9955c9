package clientfaults

import (
	"context"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/clientfaults/sdks"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// callRate is that of the bench's own client, sdkRate that of each SDK beside
	// it, in calls per second.
	callRate, sdkRate = 400, 100
	// lastCalls is how long clients may go on sending after the last kill.
	lastCalls = time.Minute
)

// KillIntake kills ingest, the router, or both, under clients that send each batch
// again until it is accepted. What they were told is accepted must arrive, in
// order, and once, however often it was sent.
func KillIntake(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	kills, duration := lab.Pick(l, 6, 100), lab.Pick(l, 12*time.Second, 200*time.Second)
	c, err := newCrowd(l)
	if err != nil {
		return nil, err
	}
	in, err := newIntake(ctx, l)
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills", Claimed: kills}}
	plan := l.Moments(kills, duration)
	l.Announce("kill -9 of ingest, router or both at %v", lab.Legible(plan))
	talking, enough := context.WithCancel(ctx)
	defer enough()
	talked := make(chan error, 1)
	go func() { talked <- c.talk(talking, in.base, duration, r) }()
	err = lab.At(ctx, plan, duration, func(i int) error {
		if killErr := kill(in.victims(l, i)...); killErr != nil {
			return killErr
		}
		r.Faults.Injected++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err = <-talked; err != nil {
		return nil, err
	}
	err = l.Finish(ctx, r, time.Minute, report.Bounds{
		MinSent: lab.AtLeast(c.rate(), duration), MaxInverted: -1,
	}, in.all()...)
	judgeClients(r, l.Books, c.ordered)
	return r, err
}

// victims are those of the i-th kill: each kind in turn at first, so that none is
// missing from a short run, then by chance.
func (in *intake) victims(l *lab.Lab, i int) []*child.Process {
	kinds := [][]*child.Process{{in.ingest}, {in.router}, {in.ingest, in.router}}
	if i >= len(kinds) {
		i = l.Rand.IntN(len(kinds))
	}
	return kinds[i]
}

// kill kills processes at once and starts them again.
func kill(all ...*child.Process) error {
	for _, p := range all {
		if err := p.Kill(); err != nil {
			return err
		}
	}
	for _, p := range all {
		if err := p.Start(); err != nil {
			return err
		}
	}
	return nil
}

// crowd are the clients of the row: the bench's own and the SDKs that it was
// given.
type crowd struct {
	lab  *lab.Lab
	sdks []sdks.SDK
}

func newCrowd(l *lab.Lab) (*crowd, error) {
	if l.SDKs() == "" {
		return &crowd{lab: l}, nil
	}
	all, err := sdks.Find(l.SDKs())
	return &crowd{lab: l, sdks: all}, err
}

// rate is that of all of them.
func (c *crowd) rate() int { return callRate + len(c.sdks)*sdkRate }

// own is the producer of the bench's own client.
const own = "calls"

// ordered reports whether the client of a producer keeps the order of its calls.
func (c *crowd) ordered(producer string) bool {
	for _, s := range c.sdks {
		if s.Name == producer {
			return s.Ordered
		}
	}
	return producer == own
}

// talk has all of them make calls for a time, and returns when nobody has anything
// left to send.
func (c *crowd) talk(ctx context.Context, base string, over time.Duration, r *report.Result) error {
	type said struct {
		count sdks.Count
		err   error
	}
	all := make([]chan said, len(c.sdks))
	for i := range c.sdks {
		all[i] = make(chan said, 1)
		go func() {
			count, err := c.sdks[i].Run(ctx, &sdks.Load{
				Endpoint: base, WriteKey: lab.WriteKey, Rate: sdkRate, Keys: 20, Duration: over,
				Books: c.lab.Books, Dir: c.lab.Dir,
			})
			all[i] <- said{count, err}
		}()
	}
	client := load.Client{URL: base + "/v1/batch", WriteKey: lab.WriteKey, Producer: own, Keys: 101, Lanes: 8, Books: c.lab.Books}
	calling, enough := context.WithTimeout(ctx, over)
	defer enough()
	unsent := client.Run(calling, callRate, lastCalls)
	r.Require(unsent == 0, "%d calls were not accepted %s after the last kill", unsent, lastCalls)
	for i, words := range all {
		w := <-words
		if w.err != nil {
			return w.err
		}
		r.Note("%s accepted %d, given up %d", c.sdks[i].Name, w.count.Accepted, w.count.Dropped)
		r.Require(w.count.Accepted > 0, "the SDK %s was not told that any call is accepted", c.sdks[i].Name)
	}
	return nil
}
