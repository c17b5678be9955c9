package imports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// logEvery is how often progress is shown where each showing is a line that stays.
const logEvery = time.Minute

// begin starts the clock that progress is told by.
func (r *run) begin(now time.Time) {
	r.begun = now
	r.progress = terminal.Progress{Out: r.Err, Live: r.Terminal, Every: logEvery}
	r.progress.Begin(now)
}

func (r *run) show(now time.Time) {
	r.progress.Show(now, func() string { return r.progressLine(now) })
}

// progressLine says how many rows are in. What is left is judged by the bytes that were
// read: how many rows there are only the last one tells.
func (r *run) progressLine(now time.Time) string {
	rows := r.entry.Rows - r.skip
	rate := float64(rows) / max(now.Sub(r.begun).Seconds(), 0.001)
	line := fmt.Sprintf("imported %s rows, %.0f rows/s, %s refused", terminal.Count(r.entry.Rows), rate, terminal.Count(r.entry.Refused))
	read := float64(r.bytesIn)
	if read == 0 || r.entry.Rows == 0 || rate == 0 {
		return line
	}
	left := float64(r.entry.Rows) * (float64(r.files.Size) - read) / read / rate
	return line + fmt.Sprintf(", %s left", time.Duration(max(left, 0)*float64(time.Second)).Round(time.Second))
}

// unfinished says what an interrupted import has done and how to go on.
func (r *run) unfinished(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
		err = errors.New("interrupted")
	}
	how := "the same command continues behind the last row that is in"
	switch {
	case errors.Is(err, errFenced):
		how = "the other import sees what was done here"
	case errors.Is(err, errChanged):
		how = "the rows that were read are in"
	}
	return fmt.Errorf("%s: %w; %s", r.Name, err, how)
}

// result is what --json prints of an import.
type result struct {
	Digest string `json:"digest"`
	Entry

	Rejects string `json:"rejects,omitempty"` // the file of refused rows
}

// finish says what was done. A refused row is an error where that was asked for.
func (r *run) finish() error {
	if err := r.print(); err != nil {
		return err
	}
	if r.Strict && r.entry.Refused > 0 {
		return fmt.Errorf("%s: %d %w", r.Name, r.entry.Refused, errRefused)
	}
	return nil
}

func (r *run) print() error {
	if r.JSON {
		out := result{Digest: r.door.digest, Entry: *r.entry}
		if r.entry.Refused > 0 {
			out.Rejects = r.rejects.name
		}
		return terminal.JSON(r.Out, out)
	}
	_, err := fmt.Fprintf(r.Out, "imported %s of %s rows of %s\n", terminal.Count(r.entry.Accepted), terminal.Count(r.entry.Rows), terminal.Safe(r.Name))
	if r.entry.Refused > 0 && err == nil {
		_, err = fmt.Fprintf(r.Out, "  %s refused: %s says why\n", terminal.Count(r.entry.Refused), terminal.Safe(r.rejects.name))
	}
	if err != nil {
		return err
	}
	return r.entry.printParts(r.Out)
}
