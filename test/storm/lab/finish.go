package lab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/anabranch/anabranch/test/storm/child"
	"github.com/anabranch/anabranch/test/storm/report"
)

// Finish drains, has the product audit itself, stops the sinks in order, and judges.
func (l *Lab) Finish(ctx context.Context, r *report.Result, bound time.Duration, b report.Bounds, sinks ...*child.Process) error {
	drained, err := l.Drain(ctx, bound)
	if err != nil {
		return err
	}
	l.Audit(ctx, r)
	l.Exit(r, sinks...)
	r.Tally = l.Books.Tally(nil)
	r.Note("drained %s after the load", drained.Round(100*time.Millisecond))
	if some := l.Books.Repeats(3); len(some) > 0 {
		r.Note("doubled: %s", strings.Join(some, ", "))
	}
	r.Judge(b)
	return nil
}

// MaxExit is what a clean stop may take.
const MaxExit = 8 * time.Second

// Exit stops processes in order and judges how long each exit of the row took.
func (l *Lab) Exit(r *report.Result, all ...*child.Process) {
	for _, p := range all {
		err := l.Stop(p)
		r.Require(err == nil, "a clean stop failed: %v", err)
	}
	longest := l.longestExit.Round(10 * time.Millisecond)
	r.Note("longest exit %s (%s)", longest, l.exited)
	r.Require(longest <= MaxExit, "an exit took %s instead of at most %s", longest, MaxExit)
}

// Stop stops a process in order and remembers how long that took.
func (l *Lab) Stop(p *child.Process) error {
	at := time.Now()
	took, err := p.Stop()
	if took > l.longestExit {
		l.longestExit, l.exited = took, fmt.Sprintf("%s at %s", p.Name, at.UTC().Format(time.TimeOnly))
	}
	return err
}

// AtLeast is what a load must have come to: nine tenths of what was asked for.
func AtLeast(rate int, over time.Duration) int { return int(over.Seconds() * float64(rate) * 0.9) }

// InFlight is the product's default of attempts in flight per destination, which
// bounds what a kill may double.
const InFlight = 64
