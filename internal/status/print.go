package status

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// JSON prints a report as one object.
func JSON(w io.Writer, r *Report) error { return terminal.JSON(w, r) }

// Table prints a report for people.
func Table(w io.Writer, r *Report) error {
	p := &printer{out: bufio.NewWriter(w), r: r}
	p.say("brokers %s at %s\n", strings.Join(r.Brokers, ","), terminal.Moment(r.At))
	p.stages()
	p.unread()
	p.destinations()
	p.retries()
	p.dead()
	p.replays()
	p.imports()
	p.lastHour()
	p.advice()
	return p.out.Flush()
}

// printer leaves errors to its buffer, which remembers the first one.
type printer struct {
	out *bufio.Writer
	r   *Report
}

func (p *printer) say(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// table prints rows behind an empty line.
func (p *printer) table(rows [][]string) {
	p.say("\n")
	t := &terminal.Columns{Out: p.out}
	for _, row := range rows {
		_ = t.Row(row...)
	}
	_ = t.Flush()
}

func (p *printer) stages() {
	rows := [][]string{{"STAGE", "GROUP IS", "INSTANCE", "CLIENT", "HOST", "PARTITIONS"}}
	for i := range p.r.Stages {
		s := &p.r.Stages[i]
		if len(s.Members) == 0 {
			rows = append(rows, []string{s.Name, cmp.Or(s.State, "not there"), "none runs", "-", "-", "-"})
		}
		for _, m := range s.Members {
			rows = append(rows, []string{
				s.Name, s.State, terminal.Safe(cmp.Or(m.Instance, m.ID)), terminal.Safe(m.Client), terminal.Safe(m.Host), partitions(m.Partitions),
			})
		}
	}
	p.table(rows)
}

// partitions shows how many there are of each kind of topic.
func partitions(of map[string]int) string {
	if len(of) == 0 {
		return "none"
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, kind+" "+strconv.Itoa(of[kind]))
	}
	return strings.Join(parts, ", ")
}

func (p *printer) unread() {
	for i := range p.r.Stages {
		for _, u := range p.r.Stages[i].Unread {
			p.say("\n%s: %s to %s%s\n", u.Topic, u.Waiting.Number(), u.verb.To, p.oldest(u.Waiting, ", the oldest accepted "))
		}
	}
}

// oldest is the age of the oldest event behind some words, or nothing.
func (p *printer) oldest(b Backlog, words string) string {
	if b.Oldest == nil {
		return ""
	}
	return words + b.Age(p.r.At) + " ago"
}

// Age is how long ago the oldest event was accepted, in words; "-" where nothing waits.
func (b Backlog) Age(now time.Time) string {
	if b.Oldest == nil {
		return "-"
	}
	return terminal.Brief(now.Sub(*b.Oldest))
}

// number shows how many dead letters there are, as far as was read.
func (l *DeadLetters) number(events int64) string {
	return Backlog{Events: events, Bound: l.Bound}.Number()
}

// Number shows the count and its bound: "1,204", "<=1,204", ">=1,204".
func (b Backlog) Number() string {
	text := terminal.Count(b.Events)
	switch b.Bound {
	case AtMost:
		return "<=" + text
	case AtLeast:
		return ">=" + text
	default:
		return text
	}
}

func (p *printer) destinations() {
	if len(p.r.Destinations) == 0 {
		p.say("\nno destinations: `anabranch apply -f workspace.yaml` puts a workspace in force\n")
		return
	}
	dead := make(map[string]int64)
	for _, g := range p.r.DeadLetters.Groups {
		dead[g.Destination] += g.Events
	}
	back := terminal.Brief(p.r.At.Sub(p.r.DeadLetters.Since))
	rows := [][]string{{"DESTINATION", "IS", "UNDELIVERED", "OLDEST", "RETRYING", "OLDEST", "DEAD IN " + back, "FAILS WITH"}}
	quiet := 0
	for i := range p.r.Destinations {
		d := &p.r.Destinations[i]
		if d.Export != nil {
			continue
		}
		if len(p.r.Destinations) > screenful && d.Quiet() && dead[d.ID] == 0 {
			quiet++
			continue
		}
		rows = append(rows, []string{
			d.ID, string(d.State), d.Undelivered.Number(), d.Undelivered.Age(p.r.At), d.Retrying.Number(), d.Retrying.Age(p.r.At),
			p.r.DeadLetters.number(dead[d.ID]), d.FailsWith(),
		})
	}
	if len(rows) > 1 {
		p.table(rows)
	}
	if quiet > 0 {
		p.say("%s more destinations, for which nothing is waiting\n", terminal.Count(int64(quiet)))
	}
	for i := range p.r.Destinations {
		d := &p.r.Destinations[i]
		if d.Replaying.Events > 0 {
			p.say("  %s: %s of replays, which wait behind live ones\n", d.ID, d.Replaying.events())
		}
		for _, e := range d.Endpoints {
			p.say("  %s: %s retries are for %s\n", d.ID, terminal.Count(e.Events), terminal.Safe(e.URL))
		}
	}
	p.exports(dead, back)
}

// exports shows the destinations that are topics, of which nothing waits here.
func (p *printer) exports(dead map[string]int64, back string) {
	rows := [][]string{{"TOPIC FOR OTHERS", "OF DESTINATION", "IS", "PARTITIONS", "HOLDS", "DEAD IN " + back}}
	for i := range p.r.Destinations {
		if d := &p.r.Destinations[i]; d.Export != nil {
			rows = append(rows, []string{
				terminal.Safe(d.Export.Topic), d.ID, string(d.State), terminal.Count(int64(d.Export.Partitions)),
				Backlog{Events: d.Export.Events, Bound: AtMost}.Number(), p.r.DeadLetters.number(dead[d.ID]),
			})
		}
	}
	if len(rows) > 1 {
		p.table(rows)
	}
}

// screenful is how many destinations and pieces of advice a person is shown before
// those without interest are left out.
const screenful = 40

// Quiet reports whether there is nothing to say about a destination, but for dead letters.
func (d *Destination) Quiet() bool {
	return d.State == Enabled && d.Undelivered.Events == 0 && d.Retrying.Events == 0 && d.Deleted == 0 && d.Replaying.Events == 0 && d.ReplayedDeleted == 0
}

// FailsWith says what the events failed with that wait for a retry; "-" where none waits.
func (d *Destination) FailsWith() string {
	parts := make([]string, 0, len(d.Failures))
	for _, f := range d.Failures {
		parts = append(parts, string(f.Reason)+" "+terminal.Count(f.Events))
	}
	if len(parts) == 0 && d.Retrying.Events > 0 {
		return "held back"
	}
	return cmp.Or(strings.Join(parts, ", "), "-")
}

// retries shows the topics on which something waits.
func (p *printer) retries() {
	rows := [][]string{{"RETRY IN", "WAITING", "OLDEST", "OVERDUE"}}
	for i := range p.r.Retries {
		if q := &p.r.Retries[i]; q.Waiting.Events > 0 {
			rows = append(rows, []string{q.Delay, q.Waiting.Number(), q.Waiting.Age(p.r.At), terminal.Count(q.Overdue)})
		}
	}
	if len(rows) > 1 {
		p.table(rows)
	}
}

func (p *printer) dead() {
	dead := &p.r.DeadLetters
	if len(dead.Groups) == 0 {
		return
	}
	rows := [][]string{{"DEAD LETTERS OF", "REASON", "EVENTS", "REDRIVEN", "FIRST", "LAST", "DETAIL OF THE LAST"}}
	for i := range dead.Groups {
		g := &dead.Groups[i]
		rows = append(rows, []string{
			terminal.Safe(g.Destination), terminal.Safe(string(g.Reason)), dead.number(g.Events),
			terminal.Count(g.Redriven), moment(g.First, p.r.At), moment(g.Last, p.r.At), terminal.Safe(g.Detail),
		})
	}
	p.table(rows)
}

// lastHour is the equation of an audit, as far as the journal alone tells.
func (p *printer) lastHour() {
	g := p.r.LastHour
	if g == nil {
		return
	}
	p.say("\nlast hour: %s\n", g)
	if doubt := g.Doubt(); doubt != "" {
		p.say("  %s\n", doubt)
	}
}

func (p *printer) advice() {
	if len(p.r.Advice) == 0 {
		p.say("\nnothing to do\n")
		return
	}
	p.say("\nWHAT TO DO\n")
	for i, a := range p.r.Advice {
		if i == screenful {
			p.say("  and %s more: --json has all of them\n", terminal.Count(int64(len(p.r.Advice)-screenful)))
			return
		}
		p.say("  %s: %s\n    %s\n", terminal.Safe(a.About), a.Problem, a.Do)
	}
}
