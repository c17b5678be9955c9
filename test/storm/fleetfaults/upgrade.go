package fleetfaults

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/receiver"
	"github.com/anabranch/anabranch/test/storm/report"
)

const ingest = "ingest"

// swap is one process replaced by one of the other version.
type swap struct {
	stage string
	n     int
	old   bool // the version that takes over
}

// String is router-1 to new.
func (s swap) String() string {
	to := "new"
	if s.old {
		to = "old"
	}
	return fmt.Sprintf("%s-%d to %s", s.stage, s.n, to)
}

// swaps replaces process by process, in the order in which events pass the stages or
// against it, and back again.
func swaps(instances map[string]int, downstream bool) []swap {
	stages := []string{ingest, router, sink}
	if !downstream {
		slices.Reverse(stages)
	}
	var all []swap
	for _, old := range []bool{false, true} {
		for _, stage := range stages {
			for n := range instances[stage] {
				all = append(all, swap{stage, n, old})
			}
		}
	}
	return all
}

// Upgrade runs two versions at once: each process is replaced by one of the new
// version and then by one of the old again, down the path of the events and up it,
// while clients send, and retries wait that the other version has written.
func Upgrade(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 300
	instances := map[string]int{ingest: 1, router: 2, sink: 2}
	plan := swaps(instances, true)
	upgraded := len(plan)/2 - 1 // after which everything is of the new version
	if !lab.Pick(l, true, false) {
		plan = append(plan, swaps(instances, false)...)
	}
	duration := time.Duration(len(plan)) * 4 * time.Second
	m, err := newMixture(ctx, l, instances)
	if err != nil {
		return nil, err
	}
	when := l.Moments(len(plan), duration)
	l.Announce("%v at %v", plan, lab.Legible(when))
	r := &report.Result{Faults: report.Faults{What: "replacements", Claimed: len(plan)}}
	err = m.under(ctx, rate, duration, r, func() error {
		return lab.At(ctx, when, duration, func(i int) error {
			if i == 0 {
				m.judgeWitness(r)
			}
			r.Faults.Injected++
			if failed := m.replace(ctx, plan[i]); failed != nil || i != upgraded {
				return failed
			}
			return m.later(ctx, r)
		})
	})
	if err != nil {
		return nil, err
	}
	err = l.Finish(ctx, r, patience, report.Bounds{MinSent: lab.AtLeast(rate, duration), MaxDoubled: math.MaxInt}, m.all()...)
	unasked := l.Books.Unasked()
	r.Note("%d calls sent again, %d arrivals that no client had sent", l.Books.Again(), unasked)
	r.Require(unasked == 0, "%d arrivals that no client had sent", unasked)
	return r, err
}

// mixture is a pipeline whose processes are of two versions.
type mixture struct {
	lab       *lab.Lab
	latest    string // path of the new version's binary
	base      string // of the collection API
	processes map[string][]*child.Process
	witness   *receiver.Receiver // of the destination that the new version has added
}

// newMixture starts every process in the old version, on a workspace that the old
// version has applied, with a destination that refuses every tenth event at first.
// The new version then adds another one.
func newMixture(ctx context.Context, l *lab.Lab, instances map[string]int) (*mixture, error) {
	if err := l.Open(ctx, 6); err != nil {
		return nil, err
	}
	to, err := l.Receivers(ctx, 1)
	if err != nil {
		return nil, err
	}
	to[0].Behave(receiver.Behaviour{Delay: 10 * time.Millisecond, FailEvery: 10})
	l.Destination("calls", 1, to[0].URL())
	if err = l.ApplyBy(ctx, l.Old()); err != nil {
		return nil, err
	}
	addr, err := child.FreeAddr()
	if err != nil {
		return nil, err
	}
	m := &mixture{lab: l, base: "http://" + addr, processes: make(map[string][]*child.Process)}
	for stage, n := range instances {
		for i := range n {
			if err = m.add(stage, i, addr); err != nil {
				return nil, err
			}
		}
	}
	for _, p := range m.all() {
		if err = p.Ready(ctx); err != nil {
			return nil, err
		}
	}
	// Its events are the same ones, which would count as doubled in the row's books.
	if m.witness, err = l.Receiver(ctx, books.New(l.Books.Run())); err != nil {
		return nil, err
	}
	l.Destination("witness", 1, m.witness.URL())
	return m, l.Apply(ctx)
}

// add starts one more process of the old version.
func (m *mixture) add(stage string, n int, api string) error {
	p, err := m.lab.Stage(stage, n, "INGEST_ADDR="+api)
	if err != nil {
		return err
	}
	m.latest, p.Path = p.Path, m.lab.Old()
	m.processes[stage] = append(m.processes[stage], p)
	return p.Start()
}

// under has clients send while something is done.
func (m *mixture) under(ctx context.Context, rate int, duration time.Duration, r *report.Result, do func() error) error {
	client := load.Client{URL: m.base + "/v1/batch", WriteKey: lab.WriteKey, Producer: "calls", Keys: 101, Lanes: 8, Books: m.lab.Books}
	calling, enough := context.WithTimeout(ctx, duration)
	defer enough()
	unsent := make(chan int, 1)
	go func() { unsent <- client.Run(calling, rate, patience) }()
	err := do()
	enough()
	n := <-unsent
	r.Require(n == 0, "%d calls were not accepted", n)
	return err
}

// judgeWitness looks whether the old version has understood what the new one wrote to
// the workspace: nothing has been replaced yet.
func (m *mixture) judgeWitness(r *report.Result) {
	met := m.witness.Attempts(books.Span{To: time.Now()})
	r.Note("the old version sent %d events to a destination that the new one had put in force", met)
	r.Require(met > 0, "the old version does not know the destination that the new one has put in force")
}

// later writes a record of a version that is still to come, and looks for it in
// dead-letters.
func (m *mixture) later(ctx context.Context, r *report.Result) error {
	id := "later-" + m.lab.Books.Run()
	headers := schemas.Headers{Version: schemas.RecordVersion + 1, Source: lab.Source, Type: schemas.TypeTrack, MessageID: id, Origin: schemas.OriginAPI}
	rec := &kgo.Record{Topic: schemas.TopicRawEvents, Key: []byte("u0"), Value: []byte(`{"of":"a later version"}`)}
	kafka.SetHeaders(rec, &headers)
	if err := m.lab.Writer.Client.ProduceSync(ctx, rec).FirstErr(); err != nil {
		return err
	}
	reason := schemas.Reason("")
	err := child.Until(ctx, 20*time.Second, "the record of a later version to be in dead-letters", func() bool {
		err := load.ReadHeaders(ctx, m.lab.Kafka, schemas.TopicDeadLetters, func(h schemas.Headers) {
			if h.MessageID == id {
				reason = h.Reason
			}
		})
		return err == nil && reason != ""
	})
	r.Note("a record of a later version is in dead-letters as %q", reason)
	r.Require(reason == schemas.ReasonVersionUnknown, "a record of a later version is in dead-letters as %q, %v", reason, err)
	return ctx.Err()
}

// replace stops a process in order and starts one of the other version in its place,
// under its name.
func (m *mixture) replace(ctx context.Context, s swap) error {
	p := m.processes[s.stage][s.n]
	if err := m.lab.Stop(p); err != nil {
		return err
	}
	if p.Path = m.latest; s.old {
		p.Path = m.lab.Old()
	}
	return p.Launch(ctx)
}

// all are the processes in the order in which they are stopped.
func (m *mixture) all() []*child.Process {
	return slices.Concat(m.processes[ingest], m.processes[router], m.processes[sink])
}
