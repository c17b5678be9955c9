package imports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// text prints a plan for people.
func (p *planner) text(w io.Writer) error {
	var b strings.Builder
	if p.wrote > shownRefusals {
		fmt.Fprintf(&b, "and %s rows more that would be refused; --json names them all\n", terminal.Count(p.wrote-shownRefusals))
	}
	if p.wrote > 0 {
		b.WriteByte('\n')
	}
	for _, s := range p.Sample {
		after := string(s.After)
		if after == "" {
			after = "nothing"
		}
		fmt.Fprintf(&b, "row %d  %s\n    ->  %s\n", s.Row, terminal.Safe(s.Before), terminal.Safe(after))
	}
	fmt.Fprintf(&b, "\n%s, format %s, to source %s\n", terminal.Safe(p.File), p.Format, p.Source)
	fmt.Fprintf(&b, "  rows      %s, of which %s would be accepted and %s refused\n", terminal.Count(p.Rows), terminal.Count(p.Accepted), terminal.Count(p.Refused))
	for _, name := range slices.Sorted(maps.Keys(p.Types)) {
		fmt.Fprintf(&b, "  %-9s %s\n", name, terminal.Count(p.Types[name]))
	}
	if p.First != nil {
		fmt.Fprintf(&b, "  happened  %s to %s\n", p.First.Format(time.RFC3339), p.Last.Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "  digest    %s\n", p.Digest)
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return p.printParts(w)
}

// printParts says what is special about some of the accepted rows.
func (c *Counts) printParts(w io.Writer) error {
	for _, part := range []struct {
		n    int64
		what string
	}{
		{c.Blocked, "blocked by the tracking plan: they go to dead-letters"},
		{c.Suppressed, "of suppressed users: nothing is stored of them"},
		{c.Undated, "without a time that can be read: they happen when they are imported"},
	} {
		if part.n == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "  %s %s\n", terminal.Count(part.n), part.what); err != nil {
			return err
		}
	}
	return nil
}
