package ask

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// PrintPreview prints what would change.
func PrintPreview(w io.Writer, p *Preview) error {
	if len(p.Definitions) == 0 {
		_, err := fmt.Fprintln(w, "no audience and no computed trait would change")
		return err
	}
	rows := [][]string{{"KEY", "KIND", "IN FORCE", "BEFORE", "AFTER", "ENTER", "LEAVE", "CHANGE"}}
	for i := range p.Definitions {
		d := &p.Definitions[i]
		version := "new"
		if d.Version > 0 {
			version = "version " + strconv.Itoa(d.Version)
		}
		if d.Deleted {
			version += ", deleted"
		}
		rows = append(rows, []string{
			terminal.Safe(d.Key), KindText(d.Kind), version, terminal.Count(d.Before), terminal.Count(d.After),
			terminal.Count(d.Enter), terminal.Count(d.Leave), terminal.Count(d.Change),
		})
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	for i := range p.Definitions {
		if err := p.Definitions[i].print(w); err != nil {
			return err
		}
	}
	return printExtents(w, p.AsOf)
}

// print prints the sample.
func (d *Difference) print(w io.Writer) error {
	if len(d.Sample) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s, %d of %s:\n", terminal.Safe(d.Key), len(d.Sample), terminal.Count(d.Enter+d.Leave+d.Change)); err != nil {
		return err
	}
	rows := [][]string{{"USER", "IS TOLD", "BECAUSE"}}
	for i := range d.Sample {
		r := &d.Sample[i]
		why := "it is deleted"
		if r.Tree != nil {
			why = strings.Join(r.Tree.reasons(nil), "; ")
		}
		rows = append(rows, []string{terminal.Safe(r.UserID), printable(r.Value), why})
	}
	return terminal.Table(w, rows)
}

// reasons are the leaves with their values.
func (n *Node) reasons(all []string) []string {
	for _, child := range n.Children {
		all = child.reasons(all)
	}
	if len(n.Children) > 0 {
		return all
	}
	text := printable([]byte(n.Node))
	if n.Value != nil {
		text += " is " + printable(n.Value)
	} else if !n.Holds {
		text += " does not hold"
	}
	return append(all, text)
}

func printExtents(w io.Writer, all []Extent) error {
	rows := make([][]string, 0, 1+len(all))
	rows = append(rows, []string{"PARTITION", "FROM OFFSET", "AS OF OFFSET", "AS OF", "CALLS READ"})
	for i := range all {
		e := &all[i]
		rows = append(rows, []string{
			strconv.Itoa(int(e.Partition)), strconv.FormatInt(e.From, 10), strconv.FormatInt(e.Offset, 10), terminal.Moment(e.Clock), terminal.Count(e.Calls),
		})
	}
	return below(w, rows)
}

// PrintVerdict prints what a check found.
func PrintVerdict(w io.Writer, v *Verdict) error {
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "%s differences: compared %s users in %d definitions\n", terminal.Count(v.Differences), terminal.Count(v.Users), len(v.Checked))
	for _, s := range v.Skipped {
		_, _ = fmt.Fprintf(out, "%s is not checked: %s\n", terminal.Safe(s.Key), s.Reason)
	}
	if len(v.Wrong) > 0 {
		_, _ = fmt.Fprintln(out)
		rows := make([][]string, 0, 1+len(v.Wrong))
		rows = append(rows, []string{"USER", "KEY", "TOLD", "TRUE", "DETAIL"})
		for i := range v.Wrong {
			d := &v.Wrong[i]
			rows = append(rows, []string{terminal.Safe(d.UserID), terminal.Safe(d.Key), printable(d.Told), printable(d.True), d.Detail})
		}
		if err := terminal.Table(out, rows); err != nil {
			return err
		}
	}
	if err := printExtents(out, v.AsOf); err != nil {
		return err
	}
	return out.Flush()
}

// PrintResync prints what a resync has done, or would.
func PrintResync(w io.Writer, done *Resynced, r Resyncing) error {
	line := fmt.Sprintf("told %s", done)
	if r.DryRun {
		takes := time.Duration(done.Members-done.Told) * time.Second / time.Duration(r.Rate)
		line = fmt.Sprintf("would tell %s, in %s at %d/s", done, takes.Round(time.Second), r.Rate)
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// String says how many are told, and of what.
func (r *Resynced) String() string {
	return fmt.Sprintf("%s of %s users of %s to %s", terminal.Count(r.Told), terminal.Count(r.Members), terminal.Safe(r.Key), terminal.Safe(r.Destination))
}

// Progress says how far it is when it has been watched for a time.
func (r *Resynced) Progress(since time.Duration) string {
	if r.Taken < r.Partitions {
		return fmt.Sprintf("waiting for personas: %d of %d partitions have taken it up", r.Taken, r.Partitions)
	}
	return fmt.Sprintf("told %s, after %s", r, since.Round(time.Second))
}
