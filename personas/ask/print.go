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
