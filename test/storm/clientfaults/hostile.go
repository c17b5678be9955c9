package clientfaults

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/clientfaults/foes"
	"github.com/anabranch/anabranch/test/storm/lab"
	"github.com/anabranch/anabranch/test/storm/load"
	"github.com/anabranch/anabranch/test/storm/report"
)

const (
	// maxHarm is what the 99th percentile of healthy calls may grow to beside
	// hostile ones, in terms of the undisturbed.
	maxHarm = 2
	// maxResident is what ingest may take of the machine meanwhile.
	maxResident = 256 << 20
	// slowClients of each of the three slow kinds come to three quarters of
	// INGEST_MAX_CONNECTIONS: beyond that ingest ends slow connections at once, and
	// the bounds on how long they may last would not be seen.
	slowClients = 1200
)

// HostileClients sets slow and malicious clients on ingest, beside one that means
// well, from the same address and with the same key, and must not notice.
func HostileClients(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate = 200
	phase, rounds := lab.Pick(l, 10*time.Second, 40*time.Second), lab.Pick(l, 1, 3)
	in, err := newIntake(ctx, l)
	if err != nil {
		return nil, err
	}
	s := &siege{lab: l, addr: strings.TrimPrefix(in.base, "http://"), slow: lab.Pick(l, 300, slowClients), target: in.ingest}
	l.Announce("%d kinds of hostile clients for %s, %d times", foes.Kinds, phase, rounds)
	caller := load.Caller{URL: in.base + "/v1/track", WriteKey: lab.WriteKey, Producer: own, Keys: 101, Books: l.Books}
	return besieged(ctx, in, s, &caller, siegePlan{rate: rate, phase: phase, rounds: rounds, kinds: foes.Kinds, refused: 0})
}

// HalfBodies has hundreds of clients send a part of a large body each and then
// nothing, without a key and from one address, beside one that sends batches with
// its key in the body: that has to find memory for them.
func HalfBodies(ctx context.Context, l *lab.Lab) (*report.Result, error) {
	const rate, batch = 20, 20 // a second, of a kilobyte each
	phase, rounds := lab.Pick(l, 10*time.Second, 40*time.Second), lab.Pick(l, 1, 3)
	in, err := newIntake(ctx, l)
	if err != nil {
		return nil, err
	}
	s := &siege{lab: l, addr: strings.TrimPrefix(in.base, "http://"), slow: foes.Bodies, target: in.ingest}
	l.Announce("half bodies for %s, %d times", phase, rounds)
	caller := load.Caller{URL: in.base + "/v1/batch", WriteKey: lab.WriteKey, Producer: own, Keys: 101, Books: l.Books, Batch: batch}
	return besieged(ctx, in, s, &caller, siegePlan{rate: rate, phase: phase, rounds: rounds, kinds: foes.Halves, refused: maxRefused})
}

// maxRefused is the share of batches that half bodies may cost.
const maxRefused = 0.01

// siegePlan is what a row with hostile clients is made of.
type siegePlan struct {
	rate    int // of the requests of the client that means well
	phase   time.Duration
	rounds  int
	kinds   int
	refused float64 // the share of its calls that may be
}

// besieged has a client that means well make its calls while others attack now and
// then, and judges what became of it.
func besieged(ctx context.Context, in *intake, s *siege, caller *load.Caller, p siegePlan) (*report.Result, error) {
	l, r := s.lab, &report.Result{Faults: report.Faults{What: "kinds of hostile clients", Claimed: p.rounds * p.kinds}}
	var got answers
	caller.Answered = got.add
	sending, enough := context.WithCancel(ctx)
	calls := make(chan int, 1)
	go func() { calls <- caller.Run(sending, p.rate) }()
	watch := in.ingest.Watch(ctx)
	err := s.alternate(ctx, r, p.phase, p.rounds)
	enough()
	made := <-calls
	if err != nil {
		return nil, err
	}
	peak, err := watch.Peak()
	if err != nil {
		return nil, err
	}
	r.Note("ingest at most %d MiB, %d goroutines, %d descriptors", peak.Resident>>20, peak.Goroutines, peak.Descriptors)
	r.Require(peak.Resident <= maxResident, "ingest took %d MiB instead of at most %d", peak.Resident>>20, maxResident>>20)
	r.Before, r.During, r.After = got.median(s.calm[:1]), got.median(s.raging), got.median(s.calm[1:])
	err = l.Finish(ctx, r, time.Minute, report.Bounds{
		MinSent: lab.AtLeast(p.rate*max(1, caller.Batch), time.Duration(2*p.rounds+1)*p.phase), MaxDoubled: math.MaxInt, MaxInverted: -1, MaxSlowdown: maxHarm,
	}, in.all()...)
	r.Require(float64(made-r.Sent) <= p.refused*float64(made), "%d of %d calls of the client that means well were not accepted; answers %v", made-r.Sent, made, got.statuses())
	r.Note("%d of %d calls not accepted", made-r.Sent, made)
	return r, err
}

// siege is ingest with hostile clients in front of it, now and then.
type siege struct {
	lab          *lab.Lab
	addr         string
	slow         int // of each slow kind, or foes.Bodies
	target       *child.Process
	calm, raging []books.Span
	cpu          [2]float64 // seconds that ingest computed, calm and raging
	hits         int
}

// alternate has calm phases and those of an attack in turn.
func (s *siege) alternate(ctx context.Context, r *report.Result, phase time.Duration, rounds int) error {
	err := s.passes(ctx, phase, &s.calm, &s.cpu[0])
	for range rounds {
		err = lab.InOrder(
			func() error { return err },
			func() error { return s.attack(ctx, r, phase) },
			func() error { return lab.Pause(ctx, time.Second) }, // their connections end
			func() error { return s.passes(ctx, phase, &s.calm, &s.cpu[0]) },
		)
	}
	over := phase.Seconds()
	r.Note("ingest used %.0f %% of a core when calm and %.0f %% under attack, by %.0f requests/s beside %d slow clients",
		100*s.cpu[0]/(over*float64(rounds+1)), 100*s.cpu[1]/(over*float64(rounds)), float64(s.hits)/(over*float64(rounds)), max(0, 3*s.slow))
	return err
}

// passes lets a phase pass and notes when it was and what ingest computed in it.
func (s *siege) passes(ctx context.Context, phase time.Duration, to *[]books.Span, cpu *float64) error {
	before, err := s.target.Gauges(ctx)
	if err != nil {
		return err
	}
	var span books.Span
	if err = lab.Passes(ctx, phase, &span)(); err != nil {
		return err
	}
	*to = append(*to, span)
	after, err := s.target.Gauges(ctx)
	*cpu += after.CPU - before.CPU
	return err
}

// attack lets the hostile clients loose for a phase and looks whether each kind of
// them got at the server.
func (s *siege) attack(ctx context.Context, r *report.Result, phase time.Duration) error {
	p, err := s.loose()
	if err != nil {
		return err
	}
	passed := s.passes(ctx, phase, &s.raging, &s.cpu[1])
	_, stopped := p.Stop()
	if err = errors.Join(passed, stopped); err != nil {
		return err
	}
	text, err := os.ReadFile(p.Log)
	if err != nil {
		return err
	}
	all, err := foes.Parse(text)
	if err != nil {
		return fmt.Errorf("%w, see %s", err, p.Log)
	}
	for i := range all {
		broken := all[i].Judge(phase)
		r.Broken = append(r.Broken, broken...)
		if len(broken) == 0 {
			r.Faults.Injected++
		}
		if all[i].Bound == 0 {
			s.hits += all[i].Hits
		}
	}
	return nil
}

// loose starts the process of the hostile clients.
func (s *siege) loose() (*child.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &child.Process{
		Name: "hostile-clients", Path: self, Args: foes.Arguments(s.addr, lab.WriteKey, s.slow),
		Log: filepath.Join(s.lab.Dir, fmt.Sprintf("hostile-clients-%d.log", len(s.raging))),
	}
	s.lab.Adopt(p)
	return p, p.Start()
}
