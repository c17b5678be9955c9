package replay

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

// PrintList prints runs below each other, the last one first.
func PrintList(w io.Writer, all []*Entry) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "no replays")
		return err
	}
	rows := [][]string{{"ID", "STATE", "READ", "SENT", "LEFT OUT", "RATE", "REMAINING", "FROM", "TO", "DESTINATIONS"}}
	for _, e := range slices.Backward(all) {
		left := int64(0)
		for _, n := range e.Left() {
			left += n
		}
		rows = append(rows, []string{
			e.Run.ID, e.State(), share(e), terminal.Count(e.Sent()), terminal.Count(left), strconv.Itoa(e.Run.Rate), remaining(e),
			terminal.Moment(e.Run.From), terminal.Moment(e.Run.To), strings.Join(e.Run.Destinations, ","),
		})
	}
	return terminal.Table(w, rows)
}

// share is how much of the range is read.
func share(e *Entry) string {
	total := int64(len(e.Run.Destinations)) * e.Run.Events()
	if total == 0 {
		return "100%"
	}
	return fmt.Sprintf("%d%%", e.Read()*100/total)
}

func remaining(e *Entry) string {
	if d, ok := e.Remaining(); ok && e.State() == string(Running) {
		return terminal.Brief(d)
	}
	return "-"
}

// ProgressLine says how far a run is.
func ProgressLine(e *Entry) string {
	var line strings.Builder
	_, _ = fmt.Fprintf(&line, "replay %s is %s: %s read, %s events sent", e.Run.ID, e.State(), share(e), terminal.Count(e.Sent()))
	if d, ok := e.Remaining(); ok && e.State() == string(Running) {
		line.WriteString(", " + terminal.Brief(d) + " left")
	}
	for _, id := range slices.Sorted(maps.Keys(e.Claim.Trouble)) {
		line.WriteString("; " + id + " " + e.Claim.Trouble[id])
	}
	return line.String()
}

// Print prints all that is known of a run.
func Print(w io.Writer, e *Entry) error {
	r := &e.Run
	rows := [][]string{
		{"id", r.ID},
		{"state", e.State()},
		{"rate", strconv.Itoa(r.Rate) + " events/s to each destination"},
		{"received", span(r)},
		{"events of", origin(r)},
		{"chosen", chosen(&r.Choice)},
		{"read", share(e)},
		{"remaining", remaining(e)},
		{"asked for", terminal.Moment(r.CreatedAt)},
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	rows = [][]string{{"DESTINATION", "STATE", "SENT", "LEFT OUT", "WHY"}}
	for _, id := range r.Destinations {
		p := e.Parts[id]
		if p == nil {
			p = newPart(r, r.CreatedAt)
		}
		total := int64(0)
		for _, n := range p.Left {
			total += n
		}
		why := reasons(p.Left)
		if text := e.Claim.Trouble[id] + p.Note; text != "" {
			why = strings.TrimPrefix(why+"; "+text, "-; ")
		}
		rows = append(rows, []string{id, string(p.State), terminal.Count(p.Sent), terminal.Count(total), why})
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return terminal.Table(w, rows)
}

// origin is where the events of a run are.
func origin(r *Run) string {
	if r.Archive == nil {
		return "topic " + schemas.TopicRawEvents
	}
	return fmt.Sprintf("archive %s (%s), %s objects", r.Archive.Destination, terminal.Safe(r.Archive.Place), terminal.Count(int64(r.Archive.Objects)))
}

func span(r *Run) string {
	from := "the first event"
	if !r.From.IsZero() {
		from = terminal.Moment(r.From)
	}
	return from + " to " + terminal.Moment(r.To)
}

// chosen is what a choice asks for, as its flags.
func chosen(c *Choice) string {
	var all []string
	for _, f := range [][2]string{{"source", c.Source}, {"destination", c.Destination}, {"type", string(c.Type)}, {"event", c.Event}, {"user", c.User}} {
		if f[1] != "" {
			all = append(all, "--"+f[0]+"="+terminal.Safe(f[1]))
		}
	}
	if c.Missing {
		all = append(all, "--only=missing")
	}
	if len(all) == 0 {
		return "everything"
	}
	return strings.Join(all, " ")
}

// reasons says how much was left out and why, the most first.
func reasons(left map[Reason]int64) string {
	all := slices.SortedFunc(maps.Keys(left), func(a, b Reason) int {
		if left[a] != left[b] {
			return int(left[b] - left[a])
		}
		return strings.Compare(string(a), string(b))
	})
	texts := make([]string, len(all))
	for i, reason := range all {
		texts[i] = string(reason) + " " + terminal.Count(left[reason])
	}
	if len(texts) == 0 {
		return "-"
	}
	return strings.Join(texts, ", ")
}

// Print prints what a run would do, and how it is started.
func (f *Forecast) Print(w io.Writer) error {
	if err := f.print(w); err != nil || f.ID == "" {
		return err
	}
	_, err := fmt.Fprintf(w, "plan %s, digest %s; within %s this sends just that: anabranch replay start %s\n", f.ID, f.Digest, terminal.Brief(PlanLife), f.ID)
	return err
}

func (f *Forecast) print(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "received %s: %s events; chosen: %s\n", span(f.Run), terminal.Count(f.Events), chosen(&f.Run.Choice)); err != nil {
		return err
	}
	if f.Total() == 0 {
		if _, err := fmt.Fprintln(w, "nothing to send"); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintf(w, "first %s, last %s; takes %s at %d events/s to each destination\n",
		terminal.Moment(f.First), terminal.Moment(f.Last), terminal.Brief(max(time.Duration(f.Seconds)*time.Second, time.Second)), f.Run.Rate); err != nil {
		return err
	}
	rows := [][]string{{"DESTINATION", "SEND", "TYPES", "LEFT OUT", "NOT SENT THEN", "AGAIN", "NOT ANY MORE", "UNKNOWN"}}
	for _, id := range slices.Sorted(maps.Keys(f.Destinations)) {
		e := f.Destinations[id]
		row := []string{id, terminal.Count(e.Send), types(e), reasons(e.Left)}
		for _, n := range []int64{e.Missing, e.Again, e.Gone, e.Unknown} {
			text := "?"
			if f.Journal {
				text = terminal.Count(n)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	if err := terminal.Table(w, rows); err != nil {
		return err
	}
	if f.Run.Archive != nil {
		_, err := fmt.Fprintf(w, "events of %s; the journal does not know them, so it is not known what was sent then\n", origin(f.Run))
		return err
	}
	for _, doubt := range f.Doubts() {
		if _, err := fmt.Fprintln(w, doubt); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "offsets of raw-events: %s\n", positions(f.Run))
	return err
}

// Doubts are what a plan can't know, for people.
func (f *Forecast) Doubts() (all []string) {
	if f.Cut > 0 {
		all = append(all, fmt.Sprintf("on %d of %d partitions %s begins later: retention may have deleted events of this time", f.Cut, len(f.Run.Ranges), schemas.TopicRawEvents))
	}
	if !f.Journal {
		all = append(all, "the journal says nothing of these events, so it is not known what was sent then")
	}
	return all
}

func types(e *Expected) string {
	var all []string
	for _, kind := range kinds() {
		if n := e.ByType[kind]; n > 0 {
			all = append(all, string(kind)+" "+terminal.Count(n))
		}
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}

func positions(r *Run) string {
	all := make([]string, 0, len(r.Ranges))
	for _, num := range slices.Sorted(maps.Keys(r.Ranges)) {
		o := r.Ranges[num]
		all = append(all, fmt.Sprintf("%d: %d to %d", num, o.From, o.To))
	}
	return strings.Join(all, ", ")
}

// Status is a run as --json prints it.
type Status struct {
	ID           string            `json:"id"`
	State        string            `json:"state"`
	Read         int64             `json:"read"`  // offsets, for all destinations together
	Total        int64             `json:"total"` // of them
	Sent         int64             `json:"sent"`
	Left         map[Reason]int64  `json:"left"`
	RemainingSec *int64            `json:"remainingSeconds,omitempty"`
	Run          Run               `json:"run"`
	Parts        map[string]*Part  `json:"parts"`
	Trouble      map[string]string `json:"trouble,omitempty"`
}

// StatusOf returns that of a run.
func StatusOf(e *Entry) Status {
	s := Status{
		ID: e.Run.ID, State: e.State(), Read: e.Read(), Total: int64(len(e.Run.Destinations)) * e.Run.Events(),
		Sent: e.Sent(), Left: e.Left(), Run: e.Run, Parts: e.Parts, Trouble: e.Claim.Trouble,
	}
	if d, ok := e.Remaining(); ok && s.State == string(Running) {
		sec := int64(d.Round(time.Second) / time.Second)
		s.RemainingSec = &sec
	}
	return s
}
