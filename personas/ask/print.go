package ask

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Lines prints one JSON object a line.
func Lines[T any](w io.Writer, values []T) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(terminal.Printable(out))
	lines.SetEscapeHTML(false)
	for i := range values {
		if err := lines.Encode(&values[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// PrintList prints definitions below each other.
func PrintList(w io.Writer, all []Summary) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no audiences and no computed traits")
		return err
	}
	rows := [][]string{{"KEY", "KIND", "VERSION", "PHASE", "SIZE", "ENTERED 1D", "LEFT 1D", "FILLED", "NAME"}}
	for i := range all {
		s := &all[i]
		rows = append(rows, []string{
			terminal.Safe(s.Key), KindText(s.Kind), strconv.Itoa(s.Version), string(s.Phase), terminal.Count(s.Size),
			terminal.Count(s.Entered), terminal.Count(s.Left), s.Filled(), terminal.Safe(s.Name),
		})
	}
	return terminal.Table(w, rows)
}

// KindText is a kind for people.
func KindText(k Kind) string { return strings.ReplaceAll(string(k), "_", " ") }

// Filled says how far the history of a definition is read, and until when it may be; "-": there
// is none to read.
func (s *Summary) Filled() string {
	if s.Total == 0 {
		return "-"
	}
	text := fmt.Sprintf("%d%%", s.Done*100/s.Total)
	if s.ETA != nil {
		text += " until " + terminal.Moment(*s.ETA)
	}
	return text
}

// PrintDetails prints one definition, and how far each partition is.
func PrintDetails(w io.Writer, d *Details) error {
	rows := [][]string{
		{"key", terminal.Safe(d.Key)},
		{"kind", KindText(d.Kind)},
		{"name", terminal.Safe(d.Name)},
		{"version", strconv.Itoa(d.Version)},
		{"phase", string(d.Phase)},
		{"size", terminal.Count(d.Size)},
		{"entered in a day", terminal.Count(d.Entered)},
		{"left in a day", terminal.Count(d.Left)},
		{"filled", d.Filled()},
		{"definition", string(terminal.AppendPrintable(nil, d.Definition))},
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	if len(d.Versions) > 0 {
		versions, err := d.versionRows()
		if err != nil {
			return err
		}
		if err := below(w, versions); err != nil {
			return err
		}
	}
	if len(d.Partitions) == 0 {
		return nil
	}
	rows = [][]string{{"PARTITION", "PHASE", "DONE", "TOTAL", "UNTIL"}}
	for _, p := range d.Partitions {
		rows = append(rows, []string{strconv.Itoa(int(p.Partition)), string(p.Phase), terminal.Count(p.Done), terminal.Count(p.Total), moment(p.ETA)})
	}
	return below(w, rows)
}

// below prints rows behind an empty line.
func below(w io.Writer, rows [][]string) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return terminal.Table(w, rows)
}

func moment(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return terminal.Moment(*t)
}

// PrintMembers prints members below each other.
func PrintMembers(w io.Writer, members []Member) error {
	if len(members) == 0 {
		_, err := fmt.Fprintln(w, "no members")
		return err
	}
	rows := [][]string{{"USER", "SINCE"}}
	for _, m := range members {
		rows = append(rows, []string{terminal.Safe(m.UserID), terminal.Moment(m.Since)})
	}
	return terminal.Table(w, rows)
}

// PrintProfile prints what is known of a user.
func PrintProfile(w io.Writer, p *Profile) error {
	rows := [][]string{{"user", terminal.Safe(p.UserID)}}
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, []string{name, text})
		}
	}
	if p.MergedInto != "" {
		add("merged into", terminal.Safe(p.MergedInto)+", who has all that was known")
	}
	if p.Deleted != "" {
		add("deleted", "by request "+terminal.Safe(p.Deleted)+", and what was before is forgotten")
	}
	if p.FirstSeen != nil {
		add("first seen", moment(p.FirstSeen))
		add("last seen", moment(p.LastSeen))
	}
	add("sources", safeAll(p.Sources))
	add("links", safeAll(p.Links))
	add("refused", safeAll(p.Refused))
	for _, path := range slices.Sorted(maps.Keys(p.Traits)) {
		add("trait "+terminal.Safe(path), printable(p.Traits[path]))
	}
	for _, key := range slices.Sorted(maps.Keys(p.Audiences)) {
		m := p.Audiences[key]
		text := "left "
		if m.Member {
			text = "member since "
		}
		add("audience "+terminal.Safe(key), text+terminal.Moment(m.Since))
	}
	for _, key := range slices.Sorted(maps.Keys(p.Computed)) {
		add("computed "+terminal.Safe(key), printable(p.Computed[key]))
	}
	add("as of", terminal.Moment(p.AsOf))
	return terminal.Table(w, rows)
}

func printable(text []byte) string { return string(terminal.AppendPrintable(nil, text)) }

func safeAll(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = terminal.Safe(text)
	}
	return strings.Join(all, ", ")
}

// Verdict says how the user stands to it, in words that go between the two.
func (e *Explanation) Verdict() string {
	if e.Member {
		return "is in"
	}
	return "is not in"
}

// PrintExplanation prints a tree, each node below its parent.
func PrintExplanation(w io.Writer, e *Explanation) error {
	out := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(out, "%s %s %s as of %s\n\n", terminal.Safe(e.UserID), e.Verdict(), terminal.Safe(e.Key), terminal.Moment(e.AsOf))
	if e.Tree == nil {
		_, _ = fmt.Fprintln(out, "nothing fails")
		return out.Flush()
	}
	c := &terminal.Columns{Out: out}
	_ = c.Row("HOLDS", "NODE", "VALUE", "EXPECTED", "FLIPS AT", "COUNTED")
	e.Tree.rows(c, 0)
	if err := c.Flush(); err != nil {
		return err
	}
	if e.Deleted > 0 {
		_, _ = fmt.Fprintf(out, "\nraw-events no longer has the first %s offsets: calls of that time may count and are not listed\n", terminal.Count(e.Deleted))
	}
	return out.Flush()
}

func (n *Node) rows(c *terminal.Columns, depth int) {
	holds := "no"
	if n.Holds {
		holds = "yes"
	}
	value := "-"
	if n.Value != nil {
		value = printable(n.Value)
	}
	_ = c.Row(holds, strings.Repeat("  ", depth)+printable([]byte(n.Node)), value, terminal.Safe(n.Expected()), moment(n.FlipsAt), safeAll(n.MessageIDs)) // Flush tells
	for _, child := range n.Children {
		child.rows(c, depth+1)
	}
}

// Expected says what is expected of the value, and by how much it misses that; empty: nothing is.
func (n *Node) Expected() string {
	if by := n.lacks(); by != "" {
		return n.Threshold + " (" + by + ")"
	}
	return n.Threshold
}

// lacks says by how much a number misses what is expected of it; empty: it does not, or
// there is no saying.
func (n *Node) lacks() string {
	op, operand, _ := strings.Cut(n.Threshold, " ")
	want, err := strconv.ParseFloat(operand, 64)
	if n.Holds || err != nil {
		return ""
	}
	got, err := strconv.ParseFloat(string(n.Value), 64)
	if err != nil {
		return ""
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 12, 64) }
	switch {
	case op == "gte", op == "eq" && got < want:
		return "short by " + number(want-got)
	case op == "gt":
		return "short by more than " + number(want-got)
	case op == "lte", op == "eq", op == "lt":
		return "over by " + number(got-want)
	default:
		return ""
	}
}

// PrintHistory prints changes below each other.
func PrintHistory(w io.Writer, all []Told) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "nothing was told, as far as raw-events goes back")
		return err
	}
	rows := [][]string{{"AT", "USER", "KEY", "VALUE", "VERSION", "CAUSE", "MESSAGE ID"}}
	for i := range all {
		t := &all[i]
		rows = append(rows, []string{
			terminal.Moment(t.At), terminal.Safe(t.UserID), terminal.Safe(t.Key), printable(t.Value),
			strconv.Itoa(t.Version), terminal.Safe(t.Cause), terminal.Safe(t.MessageID),
		})
	}
	return terminal.Table(w, rows)
}

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
