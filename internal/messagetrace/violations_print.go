package messagetrace

import (
	"fmt"
	"io"
	"strings"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Summary says how much was found, and where.
func (v *Violations) Summary() string {
	return fmt.Sprintf("%s calls were marked and %s blocked from %s to %s",
		terminal.Count(v.Marked), terminal.Count(v.Blocked), terminal.Moment(v.From), terminal.Moment(v.To))
}

// PrintViolations prints the rules below each other, each with its newest sample.
func PrintViolations(w io.Writer, v *Violations) error {
	c := &terminal.Columns{Out: w}
	if len(v.Rules) > 0 {
		_ = c.Row("SOURCE", "TYPE", "EVENT", "RULE", "MARKED", "BLOCKED", "FIRST", "LAST", "SAMPLES") // Flush tells
	}
	for i := range v.Rules {
		r := &v.Rules[i]
		ids := make([]string, len(r.Samples))
		for j := range r.Samples {
			ids[j] = terminal.Safe(r.Samples[j].MessageID)
		}
		_ = c.Row(terminal.Safe(r.Source), terminal.Safe(string(r.Type)), terminal.Safe(r.Event), terminal.Safe(r.Text()), terminal.Count(r.Marked),
			terminal.Count(r.Blocked), terminal.Moment(r.First), terminal.Moment(r.Last), strings.Join(ids, " "))
	}
	if err := c.Flush(); err != nil {
		return err
	}
	if v.Others > 0 {
		_, _ = fmt.Fprintf(w, "%s violations of other rules, which are too many to be counted one by one\n", terminal.Count(v.Others))
	}
	for _, note := range v.Notes {
		_, _ = fmt.Fprintln(w, "note: "+terminal.Safe(note))
	}
	_, err := fmt.Fprintln(w, v.Summary())
	return err
}

// Text is what the rule is about, and what was found instead.
func (v Violation) Text() string {
	if v.Path == "" {
		return v.Message
	}
	return v.Path + ": " + v.Message
}
