package messagetrace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

// moment is how times are written: UTC, to the millisecond.
const moment = "2006-01-02 15:04:05.000Z"

func at(t time.Time) string { return t.UTC().Format(moment) }

// Print prints a trace for people: what happened, in the order in which it did.
func Print(w io.Writer, t *Trace) error {
	p := &printer{bufio.NewWriter(w)}
	for i := range t.Calls {
		if i > 0 {
			p.line("")
		}
		p.call(t.MessageID, &t.Calls[i])
	}
	for _, remark := range t.Remarks() {
		p.line("note: %s", remark)
	}
	return p.out.Flush()
}

type printer struct{ out *bufio.Writer }

// line prints a line; Flush tells of an error.
func (p *printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format+"\n", args...) }

// event prints what happened at a time, at a depth.
func (p *printer) event(depth int, when time.Time, format string, args ...any) {
	p.line("%s%s  %s", strings.Repeat("  ", depth), at(when), fmt.Sprintf(format, args...))
}

// Remarks are what is said of the user, and what can't be known, in some words.
func (t *Trace) Remarks() []string {
	var all []string
	if t.Suppressed {
		all = append(all, "the user is suppressed: calls of this user are dropped from the time of the request on, and answered with 200")
	}
	for _, id := range t.Deleting {
		all = append(all, "deletion request "+terminal.Safe(id)+", which names this user, is being carried out")
	}
	for _, note := range t.Notes {
		all = append(all, terminal.Safe(note))
	}
	return all
}

func (p *printer) call(messageID string, c *Call) {
	p.line("%s: %s from source %s, user %s", terminal.Safe(messageID), c.What(), terminal.Safe(c.Source), terminal.Safe(c.User))
	p.event(1, c.ReceivedAt, "%s", c.Came())
	for _, v := range c.Violations {
		p.line("  violates the tracking plan: %s: %s", terminal.Safe(v.Path), terminal.Safe(v.Message))
	}
	if c.RoutedAt != nil {
		p.event(1, *c.RoutedAt, "%s", c.Routing())
	}
	for _, note := range c.Notes {
		p.line("  note: %s", note)
	}
	for i := range c.Destinations {
		p.destination(&c.Destinations[i])
	}
	for i := range c.Replays {
		r := &c.Replays[i]
		p.event(1, r.SentAt, "sent once more by replay %s", terminal.Safe(r.Run))
		p.destination(&r.Destination)
	}
}

// What is the type of the call, and the event of a track call in quotes.
func (c *Call) What() string {
	what := terminal.Safe(string(c.Type))
	if c.Event != "" {
		what += " " + strconv.Quote(c.Event)
	}
	return what
}

// Came says how the call came.
func (c *Call) Came() string {
	text := "taken by ingest"
	switch c.Origin {
	case schemas.OriginPersonas:
		text = "told by personas"
	case schemas.OriginDeletion:
		text = "made by a deletion request"
	case schemas.OriginReplay:
		text = "sent again on an operator's request"
	case schemas.OriginAPI:
	}
	text += ", " + terminal.Count(int64(c.Bytes)) + " bytes"
	if c.ClientAddress != "" {
		text += ", from " + terminal.Safe(c.ClientAddress)
	}
	if c.Record != "" {
		text += ", " + c.Record
	}
	return text
}

// Routing says what the router made of the call as a whole.
func (c *Call) Routing() string {
	whole := len(c.Destinations) == 1 && c.Destinations[0].ID == ""
	switch {
	case !whole:
		return "routed"
	case c.Destinations[0].Outcome == Duplicate:
		return "not routed: it is a copy of a call that was routed before"
	case c.Destinations[0].Outcome == Unconnected:
		return "not routed: no destination listens to its source"
	default:
		return "not routed"
	}
}

func (p *printer) destination(d *Destination) {
	if d.ID == "" && (d.Outcome == Duplicate || d.Outcome == Unconnected) {
		return // said where the router is
	}
	name := "  " + d.ID + ": "
	if d.ID == "" {
		name = "  "
	}
	p.line("%s%s", name, d.Verdict())
	for _, m := range d.History() {
		p.event(2, m.At, "%s", m.Text)
	}
	for _, remark := range d.Remarks() {
		p.line("    note: %s", remark)
	}
}

// Remarks are what has to be known beside the history, in some words.
func (d *Destination) Remarks() []string {
	if d.Changed && len(d.Attempts) > 0 {
		return append([]string{"the destination was changed since, its endpoints may be others now"}, d.Notes...)
	}
	return d.Notes
}

// Verdict is what became of the event at the destination, in some words.
func (d *Destination) Verdict() string {
	switch d.Outcome {
	case Filtered:
		return d.filtered()
	case Dead:
		return "dead: " + terminal.Safe(cmp.Or(d.Reason, "for a reason that is not known"))
	case Waiting:
		return d.waits()
	case Delivered:
		if d.WrittenTo != "" {
			return "written to topic " + terminal.Safe(d.WrittenTo)
		}
		if d.ArchivedIn != "" {
			return "archived in " + terminal.Safe(d.ArchivedIn)
		}
		return string(d.Outcome)
	default:
		return string(d.Outcome)
	}
}

// filtered says why the destination did not get the call.
func (d *Destination) filtered() string {
	switch d.Reason {
	case journal.WhyOnly:
		return "filtered: the definition of the audience or trait, or the import, names other destinations"
	case journal.WhyHistorical:
		return "filtered: the destination refuses imported calls of the past"
	default:
		return "filtered by " + strconv.Quote(d.Reason) + " in the call's integrations map"
	}
}

func (d *Destination) waits() string {
	switch {
	case d.WaitingUntil != nil:
		text := "waiting until " + at(*d.WaitingUntil) + " on " + d.WaitingOn
		if d.Reason != "" {
			text += ": " + terminal.Safe(d.Reason)
		}
		return text
	case d.ID == "":
		return "waiting for the router on " + d.WaitingOn
	default:
		return "waiting for the webhook sink on " + d.WaitingOn
	}
}

// Moment is something that happened to an event at a destination, in some words.
type Moment struct {
	At   time.Time
	Text string

	order time.Time
}

// History is the attempts and the dead letters in the order of time. Pauses without an attempt
// are put together, for there may be many.
func (d *Destination) History() []Moment {
	var all []Moment
	pauses := 0
	for i := range d.Attempts {
		a := &d.Attempts[i]
		if a.Endpoint == "" && a.Until != nil {
			if pauses++; i+1 < len(d.Attempts) && d.Attempts[i+1].Endpoint == "" && d.Attempts[i+1].Until != nil {
				continue
			}
			all = append(all, Moment{a.At, a.pause(pauses), a.At})
			pauses = 0
			continue
		}
		all = append(all, Moment{a.At, a.text(), a.At})
	}
	for _, l := range d.DeadLetters {
		text := "dead letter " + l.ID + ": " + terminal.Safe(cmp.Or(l.Detail, string(l.Reason)))
		all = append(all, Moment{l.At, text, d.ended(&l)})
		if l.RedrivenAt != nil {
			all = append(all, Moment{*l.RedrivenAt, "redriven", *l.RedrivenAt})
		}
	}
	slices.SortStableFunc(all, func(a, b Moment) int { return a.order.Compare(b.order) })
	return all
}

// ended is when the attempt ended that a dead letter is of: that is known a moment after
// the letter was written.
func (d *Destination) ended(l *DeadLetter) time.Time {
	for i := range d.Attempts {
		if a := &d.Attempts[i]; a.Verdict == journal.Dead.String() && !a.At.Before(l.At) && a.At.Sub(l.At) < around {
			return a.At
		}
	}
	return l.At
}

// text is an attempt in some words.
func (a *Attempt) text() string {
	if a.Endpoint == "" { // it ended without one
		return "given up without an attempt: " + terminal.Safe(string(a.Reason))
	}
	text := fmt.Sprintf("attempt %d: %s", a.Number, terminal.Safe(a.Endpoint))
	if a.Verdict == journal.Delivered.String() {
		text += fmt.Sprintf(" took it after %d ms", a.MS)
	} else {
		text += fmt.Sprintf(" failed with %s after %d ms", terminal.Safe(string(a.Reason)), a.MS)
	}
	if a.Until != nil {
		text += "; again at " + at(*a.Until)
	}
	if a.Repeat {
		text += " (a repeat: a sink ended before it could commit)"
	}
	return text
}

// pause says why there was no attempt, for so many times.
func (a *Attempt) pause(times int) string {
	why := "held back, the endpoint is known to be down"
	if a.Verdict == journal.Deferred.String() {
		why = "put off, there was no free slot, it was not due or deliveries were paused"
	}
	if times > 1 {
		why += ", " + strconv.Itoa(times) + " times"
	}
	return why + "; again at " + at(*a.Until)
}

// Text says where was searched.
func (s *Searched) Text() string {
	where := "all " + strconv.Itoa(s.Of) + " partitions"
	if s.Partitions < s.Of {
		where = strconv.Itoa(s.Partitions) + " of " + strconv.Itoa(s.Of) + " partitions"
	}
	return fmt.Sprintf("%s of raw-events from %s to %s, %s records", where, at(s.From), at(s.To), terminal.Count(s.Records))
}
