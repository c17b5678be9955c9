package stagefaults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

// killOnPlan kills a process as often as claimed and starts it again each time,
// and waits until it is at work again.
func killOnPlan(ctx context.Context, l *lab.Lab, p *child.Process, over time.Duration, faults *report.Faults) error {
	plan := l.Moments(faults.Claimed, over)
	l.Announce("kill -9 of %s at %v", p.Name, lab.Legible(plan))
	err := lab.At(ctx, plan, over, func(int) error {
		if err := p.Kill(); err != nil {
			return err
		}
		faults.Injected++
		return p.Start()
	})
	if err != nil {
		return err
	}
	return p.Ready(ctx)
}

// KillSink kills a sink that makes a thousand deliveries a second.
func KillSink(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 1000
	kills, duration := lab.Pick(l, 1, 15), lab.Pick(l, 8*time.Second, 2*time.Minute)
	f, err := l.Field(ctx, lab.Layout{Partitions: 6, Destinations: 1, Keys: 1000, Sinks: 1, Routed: true, Behave: func(int) receiver.Behaviour {
		return receiver.Behaviour{Delay: 20 * time.Millisecond}
	}})
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills", Claimed: kills}}
	err = l.Under(ctx, rate, f.Streams, func() error {
		return killOnPlan(ctx, l, f.Sinks[0], duration, &r.Faults)
	})
	if err != nil {
		return nil, err
	}
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{
		MinSent: lab.AtLeast(rate, duration), MaxDoubled: kills * lab.InFlight, DoubledRate: 0.01,
	}, f.All()...)
}

// KillProcess kills `anabranch run`, embedded broker and all, under HTTP calls.
func KillProcess(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 500
	kills, duration := lab.Pick(l, 2, 10), lab.Pick(l, 8*time.Second, time.Minute)
	all, err := l.Receivers(ctx, 1)
	if err != nil {
		return nil, err
	}
	p, api, err := wholeProcess(l, all[0].URL())
	if err != nil {
		return nil, err
	}
	if err = p.Launch(ctx); err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills", Claimed: kills}}
	caller := load.Caller{URL: "http://" + api + "/v1/track", WriteKey: lab.WriteKey, Producer: "calls", Keys: 101, Books: l.Books}
	sending, enough := context.WithTimeout(ctx, duration)
	defer enough()
	calls := make(chan int, 1)
	go func() { calls <- caller.Run(sending, rate) }()
	if err = killOnPlan(ctx, l, p, duration, &r.Faults); err != nil {
		return nil, err
	}
	r.Note("of %d calls", <-calls)
	// While the process is down its calls are refused, so half of them will do.
	return r, l.Finish(ctx, r, time.Minute, report.Bounds{
		MinSent: lab.AtLeast(rate, duration) / 2, MaxDoubled: 2 * kills * lab.InFlight, MaxInverted: -1,
	}, p)
}

// wholeProcess prepares `anabranch run` with a workspace of one destination.
func wholeProcess(l *lab.Lab, hook string) (p *child.Process, api string, err error) {
	file := filepath.Join(l.Dir, "workspace.yaml")
	if err = os.WriteFile(file, []byte(workspaceFile(hook)), 0o600); err != nil {
		return nil, "", err
	}
	return l.Whole(0, "WORKSPACE_FILE="+file)
}

func workspaceFile(hook string) string {
	return strings.NewReplacer("KEY", lab.WriteKey, "HOOK", hook).Replace(`sources:
  - id: storm
    name: Storm
    writeKey: KEY
destinations:
  - id: books
    type: webhooks
    name: Books
    sources: [storm]
    endpoints:
      - url: HOOK
`)
}

// KillRouter kills `anabranch router` against a broker that lives on, which
// must leave each event exactly once on its destination's topic.
func KillRouter(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 1000
	kills, duration := lab.Pick(l, 2, 20), lab.Pick(l, 7*time.Second, time.Minute)
	if err := l.Open(ctx, 6); err != nil {
		return nil, err
	}
	l.Destination("routed", 1, "http://127.0.0.1:1/")
	if err := l.Apply(ctx); err != nil {
		return nil, err
	}
	p, err := l.Launch(ctx, "router", 0)
	if err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "kills", Claimed: kills}}
	raw := load.NewStream(l.Books.Run(), l.ID("routed"), schemas.TopicRawEvents, 101)
	err = l.Under(ctx, rate, []*load.Stream{raw}, func() error {
		return killOnPlan(ctx, l, p, duration, &r.Faults)
	})
	if err != nil {
		return nil, err
	}
	if err = readRouted(ctx, l); err != nil {
		return nil, err
	}
	l.Exit(r, p)
	r.Tally = l.Books.Tally(nil)
	// Each key keeps its partition and each partition its order, through aborted
	// transactions too.
	r.Judge(report.Bounds{MinSent: lab.AtLeast(rate, duration)})
	return r, nil
}

// readRouted waits until the destination's topic holds all that was produced, and
// enters what it holds into the books.
func readRouted(ctx context.Context, l *lab.Lab) error {
	var routed []books.Stamp
	want := l.Books.Tally(nil).Sent
	var readErr error
	waited := child.Until(ctx, time.Minute, "the router to catch up", func() bool {
		routed = routed[:0]
		readErr = load.ReadTopic(ctx, l.Kafka, schemas.DeliverTopic(l.ID("routed")), func(s books.Stamp) { routed = append(routed, s) })
		return readErr == nil && len(routed) >= want
	})
	if waited != nil && readErr != nil {
		return fmt.Errorf("%w: %w", waited, readErr)
	}
	for _, s := range routed {
		l.Books.Arrived(s, time.Now(), func(int) bool { return true })
	}
	return nil
}
