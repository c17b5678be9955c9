package stagefaults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// toldRate is that of calls of users who become members by them, in calls per second.
	toldRate = 500
	// maxTold is what the 99th percentile may be, from the acknowledgement of a call to the
	// webhook of the identify call.
	maxTold = 400 * time.Millisecond
	// pastMembers become members of an audience that is filled.
	pastMembers = 50
)

// ToldPersonas measures how soon a webhook tells of a change, undisturbed and while new
// audiences are filled from the calls of the past, of which one in a hundred matters.
func ToldPersonas(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	past, calm := lab.Pick(l, 30_000, 600_000), lab.Pick(l, 2*time.Second, 15*time.Second)
	if err := l.Open(ctx, partitions); err != nil {
		return nil, err
	}
	to := newNewcomers(l.ID("told"))
	server := httptest.NewServer(to)
	l.OnClose(server.Close)
	l.Told("told", server.URL)
	if err := l.Define(ctx, to.definitions(0)); err != nil {
		return nil, err
	}
	var stages []*child.Process
	for _, target := range []string{"router", "webhook-sink", "personas"} {
		p, err := l.Launch(ctx, target, 0, "PERSONAS_DATA_DIR="+disk(l, 0))
		if err != nil {
			return nil, err
		}
		stages = append(stages, p)
	}
	cl := l.Writer.Client
	if err := to.remember(ctx, cl, past); err != nil {
		return nil, err
	}
	if err := to.meet(ctx, cl); err != nil {
		return nil, err
	}
	r := &report.Result{Faults: report.Faults{What: "fillings", Claimed: lab.Pick(l, 1, 5)}}
	var calms, fillings []books.Phase
	var filled time.Duration
	for r.Faults.Injected < r.Faults.Claimed {
		p, err := to.phase(ctx, cl, func() error { return lab.Pause(ctx, calm) })
		if err != nil {
			return nil, err
		}
		calms = append(calms, p)
		if err = l.Define(ctx, to.definitions(r.Faults.Injected+1)); err != nil { // a process that wants a core for itself
			return nil, err
		}
		began := time.Now()
		p, err = to.phase(ctx, cl, func() error { return to.filled(ctx, r.Faults.Injected+1) })
		if err != nil {
			return nil, err
		}
		fillings, filled = append(fillings, p), filled+time.Since(began)
		r.Faults.Injected++
	}
	undisturbed, meanwhile := books.Median(calms), books.Median(fillings)
	r.Sent, r.Lost = undisturbed.Count+meanwhile.Count, to.open()
	r.Note("from the acknowledgement of a call to the webhook: p50 %s, p99 %s, at most %s", legible(undisturbed.P50), legible(undisturbed.P99), legible(undisturbed.Max))
	r.Note("while audiences were filled from %d calls each: p50 %s, p99 %s, at most %s", past, legible(meanwhile.P50), legible(meanwhile.P99), legible(meanwhile.Max))
	r.Note("%.0f calls of the past a second", float64(past*r.Faults.Claimed)/filled.Seconds())
	r.Require(undisturbed.P99 <= maxTold, "p99 %s instead of at most %s", undisturbed.P99, maxTold)
	l.Exit(r, stages...)
	r.Judge(report.Bounds{MinSent: lab.AtLeast(toldRate, calm)})
	return r, nil
}

func legible(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// newcomers are users who call once, and the receiver that is told that they are members.
type newcomers struct {
	run string

	mu    sync.Mutex
	made  int
	acked map[string]time.Time
	told  map[string]time.Time
	past  map[string]int // members by audience that was filled
}

func newNewcomers(run string) *newcomers {
	p := newPeople(run)
	return &newcomers{run: p.run, acked: make(map[string]time.Time), told: make(map[string]time.Time), past: make(map[string]int)}
}

// definitions are an audience of newcomers, and so many that are to be filled.
func (n *newcomers) definitions(fillings int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "audiences:\n  - {id: %s, when: {did: Storm}}\n", n.audience(0))
	for i := range fillings {
		fmt.Fprintf(&text, "  - {id: %s, when: {did: Past %d}}\n", n.audience(i+1), i) // one that others ask about needs no filling
	}
	return text.String()
}

// audience is the id of the i-th, of which the first is that of newcomers.
func (n *newcomers) audience(i int) string {
	return fmt.Sprintf("%s_%d", strings.ReplaceAll(n.run, "-", "_"), i)
}

// ServeHTTP takes in what the sink tells.
func (n *newcomers) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	now := time.Now()
	var call struct {
		UserID string          `json:"userId"`
		Traits map[string]bool `json:"traits"`
	}
	if json.NewDecoder(req.Body).Decode(&call) != nil {
		return // of somebody else, or cut in the middle
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for audience := range call.Traits {
		if audience != n.audience(0) {
			n.past[audience]++
		} else if _, known := n.told[call.UserID]; !known {
			n.told[call.UserID] = now
		}
	}
}

// remember writes the past.
func (n *newcomers) remember(ctx context.Context, cl *kgo.Client, calls int) error {
	for i := range calls {
		// Those of one kind are of few users.
		user := fmt.Sprintf("%s-past-%d", n.run, i%(100*pastMembers))
		cl.Produce(ctx, call(user, fmt.Sprintf("%s-past-call-%d", n.run, i), fmt.Sprintf("Past %d", i%100)), nil)
	}
	return cl.Flush(ctx)
}

// meet returns when what stands on each partition has been read: newcomers are told of.
func (n *newcomers) meet(ctx context.Context, cl *kgo.Client) error {
	for range 10 * partitions {
		n.come(ctx, cl)
	}
	return child.Until(ctx, 3*time.Minute, "the first newcomers to be told of", func() bool { return n.open() == 0 })
}

// come has a newcomer call.
func (n *newcomers) come(ctx context.Context, cl *kgo.Client) {
	user := fmt.Sprintf("%s-new-%d", n.run, n.made)
	n.made++
	cl.Produce(context.WithoutCancel(ctx), call(user, user, "Storm"), func(_ *kgo.Record, err error) {
		if err == nil {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.acked[user] = time.Now()
		}
	})
}

// open is how many were not told of yet.
func (n *newcomers) open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	open := n.made - len(n.acked)
	for user := range n.acked {
		if _, told := n.told[user]; !told {
			open++
		}
	}
	return open
}

// filled returns when all members of an audience that is filled have been told of.
func (n *newcomers) filled(ctx context.Context, i int) error {
	return child.Until(ctx, 3*time.Minute, "an audience to be filled", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.past[n.audience(i)] >= pastMembers
	})
}

// phase sums up how long newcomers took who came while something was done.
func (n *newcomers) phase(ctx context.Context, cl *kgo.Client, do func() error) (books.Phase, error) {
	first := n.made
	calling, enough := context.WithCancel(ctx)
	defer enough()
	called := make(chan struct{})
	go func() {
		defer close(called)
		load.Pace(calling, toldRate, func() { n.come(ctx, cl) })
	}()
	err := do()
	enough()
	<-called
	if err != nil {
		return books.Phase{}, err
	}
	if err = child.Until(ctx, time.Minute, "newcomers to be told of", func() bool { return n.open() == 0 }); err != nil {
		return books.Phase{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var took []time.Duration
	for i := first; i < n.made; i++ {
		user := fmt.Sprintf("%s-new-%d", n.run, i)
		took = append(took, max(0, n.told[user].Sub(n.acked[user])))
	}
	return books.Summarize(took), nil
}
