package audit

import (
	"bufio"
	"fmt"
	"io"

	"github.com/anabranch/anabranch/internal/terminal"
)

// JSON prints a report as one object.
func JSON(w io.Writer, r *Report) error { return terminal.JSON(w, r) }

// screenful is how many missing events a person is shown.
const screenful = 40

// Table prints a report for people.
func Table(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
	say("calls accepted from %s to %s, as of %s\n\n", terminal.Moment(r.From), terminal.Moment(r.To), terminal.Moment(r.AsOf))
	columns := &terminal.Columns{Out: out}
	_ = columns.Row("SOURCE", "DESTINATION", "ACCEPTED", "DELIVERED", "FILTERED", "DUPLICATE", "UNCONNECTED", "DEAD", "WAITING", "MISSING", "REPEATS", "REPLAYED")
	for i := range r.Rows {
		_ = columns.Row(r.Rows[i].cells()...)
	}
	if t := r.Total(); len(r.Rows) != 1 {
		t.Source, t.Destination = "all", " "
		_ = columns.Row(t.cells()...)
	}
	_ = columns.Flush()
	if len(r.Missing) > 0 {
		say("\n")
		columns = &terminal.Columns{Out: out}
		_ = columns.Row("MISSING", "SOURCE", "DESTINATION", "LAST SEEN")
		for _, m := range r.Missing[:min(len(r.Missing), screenful)] {
			_ = columns.Row(terminal.Safe(m.MessageID), terminal.Safe(m.Source), terminal.Safe(m.Destination), m.LastSeen)
		}
		_ = columns.Flush()
		if more := len(r.Missing) - screenful; more > 0 {
			say("and %s more: --json has them\n", terminal.Count(int64(more)))
		}
	}
	if len(r.Unknown) > 0 {
		say("\nNOT KNOWN\n")
	}
	for i := range r.Unknown {
		say("  %s\n", r.Unknown[i].String())
	}
	say("\n%s\n", r.summary())
	return out.Flush()
}

func (r *Row) cells() []string {
	count := terminal.Count
	return []string{
		terminal.Safe(r.Source), terminal.Safe(r.Destination), count(r.Accepted), count(r.Delivered), count(r.Filtered), count(r.Duplicate),
		count(r.Unconnected), count(r.Dead), count(r.Waiting), count(r.Missing), count(r.Repeats), count(r.Replayed),
	}
}

// summary is the last line.
func (r *Report) summary() string {
	switch r.Outcome() {
	case SomeLost:
		return "it does not add up: " + r.Err().Error()
	case NotAllSaid:
		return "what is known adds up; of the rest nothing can be said"
	case AddsUp:
	}
	return "it adds up: each accepted call is accounted for"
}
