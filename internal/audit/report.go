package audit

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
)

// Report is what an audit comes to. Its JSON is for programs: names stay, and what is added
// later is added to the end. Times are RFC 3339 in UTC, slices are never null.
type Report struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`    // excluded
	AsOf time.Time `json:"as_of"` // what had ended by then; the rest waits
	Rows []Row     `json:"rows"`  // ascending by source and destination
	// Missing are the events that nothing accounts for, the first 100,000 of them.
	Missing []Missing `json:"missing"`
	// Unknown are the parts of the range of which nothing can be said, and why.
	Unknown []Doubt `json:"unknown"`
}

// Row is the equation for the calls of a source at a destination that listens to it. Those
// that ended before any destination was known, or have not come so far, have a row of the
// source with an empty destination.
//
//	accepted = delivered + filtered + duplicate + unconnected + dead + waiting + missing
type Row struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Accepted    int64  `json:"accepted"`
	Delivered   int64  `json:"delivered"`
	Filtered    int64  `json:"filtered"`
	Duplicate   int64  `json:"duplicate"`
	Unconnected int64  `json:"unconnected"`
	Dead        int64  `json:"dead"`
	Waiting     int64  `json:"waiting"`
	Missing     int64  `json:"missing"`
	Repeats     int64  `json:"repeats"`  // attempts and decisions that were made once more; of no effect on the sum
	Replayed    int64  `json:"replayed"` // deliveries of replays in the time of the range, whenever their call was accepted; of no effect on the sum
}

func (r *Row) add(o *Row) {
	r.Accepted += o.Accepted
	r.Delivered += o.Delivered
	r.Filtered += o.Filtered
	r.Duplicate += o.Duplicate
	r.Unconnected += o.Unconnected
	r.Dead += o.Dead
	r.Waiting += o.Waiting
	r.Missing += o.Missing
	r.Repeats += o.Repeats
	r.Replayed += o.Replayed
}

// Missing is an event that nothing accounts for.
type Missing struct {
	MessageID   string `json:"message_id"`
	Source      string `json:"source"`
	Destination string `json:"destination"` // empty: the router said nothing about it
	LastSeen    string `json:"last_seen"`   // for people
}

// Cause is why nothing can be said of a part.
type Cause string

// The causes there are.
const (
	NotJournalled Cause = "not_journalled" // the journal was off, or retention has cut it
	Unwritten     Cause = "unwritten"      // a sink could not write its journal for long
	OtherKey      Cause = "other_key"      // the journal is of a topic raw-events that is gone
	Deleted       Cause = "deleted"        // retention has cut raw-events
	LettersGone   Cause = "letters_gone"   // dead letters may have been deleted
	NoCall        Cause = "no_call"        // the journal tells of calls that raw-events does not have
	Moving        Cause = "moving"         // too recent: it may still change
	Hidden        Cause = "hidden"         // an open transaction hides it
)

// Doubt is a part of the range of which nothing can be said.
type Doubt struct {
	Cause  Cause     `json:"cause"`
	Part   string    `json:"part"`          // a topic, or a partition of one
	Events int64     `json:"events"`        // how many are meant; 0: nobody knows
	From   time.Time `json:"from,omitzero"` // of their times, as far as they are known
	To     time.Time `json:"to,omitzero"`   // included
}

// String says for people what is not known.
func (d *Doubt) String() string {
	text := d.Part + ": " + d.words()
	switch {
	case d.From.IsZero():
	case d.To.Equal(d.From):
		text += ", at " + terminal.Moment(d.From)
	default:
		text += ", " + terminal.Moment(d.From) + " to " + terminal.Moment(d.To)
	}
	return text
}

func (d *Doubt) words() string {
	n := terminal.Count(d.Events)
	switch d.Cause {
	case NotJournalled:
		return n + " events are not in the journal (JOURNAL=false, or JOURNAL_RETENTION has passed)"
	case Unwritten:
		return n + " ends are not in the journal: a sink could not write it for too long"
	case OtherKey:
		return n + " entries of the journal are about an earlier topic of the name raw-events"
	case Deleted:
		return "calls of the range may have been deleted: the log begins behind the start of the range"
	case LettersGone:
		return n + " events were given up, and their dead letters are gone or were deleted"
	case NoCall:
		return n + " calls of the journal are not on the topic: they were deleted"
	case Moving:
		return "it is too recent to be settled: what comes within --settle may still change it"
	case Hidden:
		return "a transaction that nobody ends hides what is behind it: `anabranch doctor` names its producer"
	}
	return string(d.Cause)
}

// Outcome is what a report says in one word, and the exit code of the command.
type Outcome int

// The outcomes.
const (
	AddsUp     Outcome = 0 // each accepted call is accounted for
	SomeLost   Outcome = 1 // something is missing
	NotAllSaid Outcome = 2 // of a part of the range nothing can be said
)

// Outcome sums the report up. What is missing is said first, whatever else is not known.
func (r *Report) Outcome() Outcome {
	for i := range r.Rows {
		if r.Rows[i].Missing > 0 {
			return SomeLost
		}
	}
	if len(r.Unknown) > 0 {
		return NotAllSaid
	}
	return AddsUp
}

// Total is the sum of the rows.
func (r *Report) Total() (t Row) {
	for i := range r.Rows {
		t.add(&r.Rows[i])
	}
	return t
}

// Err is nil when everything adds up, else says in a line what does not.
func (r *Report) Err() error {
	t := r.Total()
	switch r.Outcome() {
	case SomeLost:
		return fmt.Errorf("%s of %s accepted are missing", terminal.Count(t.Missing), terminal.Count(t.Accepted))
	case NotAllSaid:
		return fmt.Errorf("nothing can be said of a part of the range: %s", r.Unknown[0].String())
	case AddsUp:
	}
	return nil
}
