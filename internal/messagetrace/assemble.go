package messagetrace

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

const (
	noteNotJournalled  = "the router is past it, and the journal does not say what it decided: the journal was off then, or no longer goes back as far"
	noteNoDelivery     = "the sink is past it, and the journal does not say how it ended: the journal was off then, or no longer goes back as far"
	noteLetterNotFound = "its dead letter was not found: dead-letters no longer holds it"
)

// assemble is the story of a call: what became of it as a whole, or at each destination
// that listened. It has no effects.
func (f *facts) assemble(of names) Call {
	c := f.call
	c.Destinations = []Destination{}
	if f.routing != nil && !f.routedAt.IsZero() {
		at := f.routedAt
		c.RoutedAt = &at
	}
	switch {
	case f.offset < 0:
		c.Destinations = append(c.Destinations, f.whole(Dead, ""))
	case f.routing == nil && !f.routed:
		d := f.whole(Waiting, "")
		d.WaitingOn = schemas.TopicRawEvents
		c.Destinations = append(c.Destinations, d)
	case f.routing == nil:
		c.Notes = append(slices.Clip(c.Notes), noteNotJournalled)
		c.Destinations = f.unrouted(of)
	case f.routing.Result == journal.Duplicate:
		c.Destinations = append(c.Destinations, f.whole(Duplicate, ""))
	case f.routing.Result == journal.Unconnected:
		c.Destinations = append(c.Destinations, f.whole(Unconnected, ""))
	case f.routing.Result == journal.CallDead:
		c.Destinations = append(c.Destinations, f.whole(Dead, string(f.routing.Reason)))
	default:
		for i := range f.routing.Decisions {
			c.Destinations = append(c.Destinations, f.decided(&f.routing.Decisions[i], of))
		}
	}
	for _, s := range f.replays {
		c.Replays = append(c.Replays, s.again(f, of))
	}
	return c
}

// whole is what became of the call before it had a destination.
func (f *facts) whole(outcome Outcome, reason string) Destination {
	d := Destination{Outcome: outcome, Reason: reason, Attempts: []Attempt{}}
	if outcome == Dead {
		f.bury(&d)
	}
	return d
}

// unrouted are the destinations that something is known of although the router's decisions
// are not.
func (f *facts) unrouted(of names) []Destination {
	ids := make([]string, 0, len(f.tries)+len(f.letters))
	for i := range f.tries {
		ids = append(ids, f.tries[i].Destination)
	}
	for i := range f.letters {
		ids = append(ids, f.letters[i].destination)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	all := make([]Destination, 0, len(ids))
	for _, id := range ids {
		all = append(all, f.sent(id, of))
	}
	return all
}

// decided is what became of the call at a destination that listened.
func (f *facts) decided(by *journal.Decision, of names) Destination {
	if by.Result == journal.Filtered {
		return Destination{ID: by.Destination, Outcome: Filtered, Reason: by.Why, Attempts: []Attempt{}}
	}
	if by.Result == journal.Sent && by.Why != "" {
		return Destination{ID: by.Destination, Outcome: Delivered, WrittenTo: cmp.Or(f.written[by.Destination], by.Why), Attempts: []Attempt{}}
	}
	d := f.sent(by.Destination, of)
	if by.Result == journal.DecisionDead && len(d.Attempts) == 0 {
		d.Reason = cmp.Or(d.Reason, by.Why)
		if len(d.DeadLetters) == 0 { // or it was sent again, and waits
			d.Outcome, d.WaitingOn = Dead, ""
			d.Notes = []string{noteLetterNotFound}
		}
	}
	return d
}

// sent is what became of the event at a destination on whose topic it was put.
func (f *facts) sent(id string, of names) Destination {
	d := Destination{ID: id, Attempts: []Attempt{}, Changed: of.changed(id, f.since)}
	hosts := of.hosts(id)
	var last *try
	for i := range f.tries {
		if t := &f.tries[i]; t.Destination == id && t.object != (schemas.ArchivedName{}) {
			return Destination{ID: id, Outcome: Delivered, ArchivedIn: f.objectOf(t), Attempts: []Attempt{}}
		} else if t.Destination == id {
			d.Attempts = append(d.Attempts, t.shown(hosts, f.tries[:i]))
			last = t
		}
	}
	f.letter(&d)
	redriven := d.redriven()
	switch {
	case slices.ContainsFunc(d.Attempts, func(a Attempt) bool { return a.Verdict == journal.Delivered.String() }):
		d.Outcome = Delivered
	case slices.ContainsFunc(d.DeadLetters, func(l DeadLetter) bool { return l.Arrived }):
		d.Outcome = Delivered
	case last != nil && last.At.After(redriven):
		d.end(last)
	case !redriven.IsZero() || len(d.DeadLetters) == 0 && !f.passed[id]:
		d.Outcome, d.WaitingOn = Waiting, of.topic(id)
	case len(d.DeadLetters) > 0:
		d.Outcome, d.Reason = Dead, string(d.DeadLetters[len(d.DeadLetters)-1].Reason)
	default:
		d.Outcome, d.Notes = Unknown, append(d.Notes, noteNoDelivery)
	}
	return d
}

// objectOf is the name of the object that holds the event: its day is that of its receipt.
func (f *facts) objectOf(t *try) string {
	name := t.object
	name.Day = f.since
	return name.String()
}

// end is what became of an event whose last attempt did not deliver it.
func (d *Destination) end(last *try) {
	d.Reason = string(last.Reason)
	if !last.Outcome.Waits() {
		d.Outcome = Dead
		if len(d.DeadLetters) == 0 {
			d.Notes = append(d.Notes, noteLetterNotFound)
		}
		return
	}
	until := last.Until.UTC()
	d.Outcome, d.WaitingUntil, d.WaitingOn = Waiting, &until, last.Topic
}

// redriven is when the event was sent again for the last time; zero: never.
func (d *Destination) redriven() (at time.Time) {
	for i := range d.DeadLetters {
		if again := d.DeadLetters[i].RedrivenAt; again != nil {
			at = latest(at, *again)
		}
	}
	return at
}

// bury adds the dead letters of the call as a whole.
func (f *facts) bury(d *Destination) {
	f.letter(d)
	if len(d.DeadLetters) == 0 {
		d.Notes = append(d.Notes, noteLetterNotFound)
		return
	}
	d.Reason = cmp.Or(d.Reason, string(d.DeadLetters[0].Reason))
}

// letter adds the dead letters of a destination, the oldest first.
func (f *facts) letter(d *Destination) {
	for i := range f.letters {
		if l := &f.letters[i]; l.destination == d.ID {
			d.DeadLetters = append(d.DeadLetters, l.DeadLetter)
		}
	}
	slices.SortStableFunc(d.DeadLetters, func(a, b DeadLetter) int { return a.At.Compare(b.At) })
}

// shown is an attempt for people and programs. before are those before it.
func (t try) shown(hosts []string, before []try) Attempt {
	a := Attempt{
		At: t.At.UTC(), Verdict: t.Outcome.String(), MS: t.Took.Milliseconds(), Number: t.Number, Reason: t.Reason,
		Repeat: slices.ContainsFunc(before, t.repeats),
	}
	if t.Outcome.Waits() {
		until := t.Until.UTC()
		a.Until = &until
	}
	if t.attempted() {
		a.Endpoint, a.Status = asked(hosts, t.Endpoints), status(t.Outcome, t.Reason)
	}
	return a
}

// attempted reports whether anything was sent, or tried to be.
func (t try) attempted() bool {
	return t.Endpoints != 0 && t.Outcome != journal.Withheld && t.Outcome != journal.Deferred
}

// repeats reports whether an attempt is the same as an earlier one: it was of the same
// record, though a redriven event has a record of its own.
func (t try) repeats(earlier try) bool {
	return earlier.from == t.from && earlier.Offset == t.Offset && earlier.Destination == t.Destination &&
		earlier.Number == t.Number && earlier.attempted() && t.attempted()
}

// asked names the hosts of the endpoints whose bits are set. Of one that the workspace does
// not have any more there is the position.
func asked(hosts []string, endpoints uint8) string {
	var all []string
	for i := range 8 {
		switch {
		case endpoints&(1<<i) == 0:
		case i < len(hosts):
			all = append(all, hosts[i])
		default:
			all = append(all, "endpoint "+string(rune('1'+i)))
		}
	}
	return strings.Join(all, ", ")
}

// status is the class of the answer's status; empty: there was none.
func status(o journal.Outcome, r schemas.Reason) string {
	if o == journal.Delivered {
		return "2xx"
	}
	if class, ok := strings.CutPrefix(string(r), "status_"); ok {
		return class
	}
	return ""
}

// expects is when the journal may say more of the event: the earliest time, now for what is
// under way; false: all is said.
func (c *Call) expects(now time.Time) (at time.Time, more bool) {
	for i := range c.Destinations {
		d := &c.Destinations[i]
		if d.Outcome != Waiting {
			continue
		}
		when := now
		if d.WaitingUntil != nil {
			when = *d.WaitingUntil
		} else if again := d.redriven(); !again.IsZero() {
			when = again
		}
		if !more || when.Before(at) {
			at = when
		}
		more = true
	}
	return at, more
}
