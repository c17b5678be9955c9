package redrive

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// logEvery is how often progress is shown where each showing is a line that stays.
const logEvery = 5 * time.Second

// begin starts the clock that progress is told by.
func (r *run) begin(now time.Time) {
	r.begun = now
	r.progress = terminal.Progress{Out: r.Err, Live: r.Terminal, Every: logEvery}
	r.progress.Begin(now)
}

func (r *run) show(now time.Time) {
	r.progress.Show(now, func() string { return r.progressLine(now) })
}

func (r *run) progressLine(now time.Time) string {
	sent, total := r.done.total(send), r.plan.total(send)
	rate := float64(sent) / max(now.Sub(r.begun).Seconds(), 0.001)
	left := time.Duration(max(total-sent, 0)) * r.pace.Each
	return fmt.Sprintf("redriven %d/%d, %.0f/s, %s left", sent, total, rate, left.Round(time.Second))
}

// unfinished says what an interrupted run has done and how to go on.
func (r *run) unfinished(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		err = errors.New("interrupted")
	}
	how := "the same command" + r.pinned() + " continues where this one ended"
	if errors.Is(err, errFenced) {
		how = "the other run sees what was done here"
	}
	return fmt.Errorf("%w: %d of %d redriven; %s", err, r.done.total(send), r.plan.total(send), how)
}

// pinned are the flags of this run that mean another thing in a later one, each
// with the moment that it means in this one; empty when there is none.
func (r *run) pinned() string {
	var flags []string
	if !r.Selection.Since.IsZero() {
		flags = append(flags, "--since="+moment(r.Selection.Since))
	}
	if !r.Again.IsZero() {
		flags = append(flags, "--again="+moment(r.Again))
	}
	if len(flags) == 0 {
		return ""
	}
	return " with " + strings.Join(flags, " ")
}

// moment is t as deadletters.ParseTime reads it, to the millisecond.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

// print tells what was done, or what would be.
func (r *run) print(c counts, done string) error {
	if c.sum() == 0 {
		_, err := fmt.Fprintln(r.Out, "no dead letters match"+r.stranger())
		return err
	}
	table := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "%s %d of %d dead letters\n", done, c.total(send), c.sum())
	for _, k := range c.sorted() {
		outcome := done
		if k.verdict != send {
			outcome = "left out: " + string(k.verdict)
		}
		_, _ = fmt.Fprintf(table, "  %s\t%s\t%d\t%s\n", orDash(k.destination), orDash(string(k.reason)), c[k], outcome)
	}
	if before := c.total(redriven); before > 0 {
		_, _ = fmt.Fprintf(table, "%s redriven before; --again sends again\n", were(before))
	}
	return table.Flush()
}

// stranger says that the selected destination is none of the workspace, if so: its
// id is most likely misspelt.
func (r *run) stranger() string {
	id := r.Selection.Destination
	if _, known := r.Workspace.Destination(id); id == "" || known {
		return ""
	}
	return fmt.Sprintf(", and the workspace has no destination %q", id)
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
