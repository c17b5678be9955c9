package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

// ledger takes the facts of a range, in any order but for these: those of [ledger.record] to
// [ledger.redrive] come first, then [ledger.balance], then each call of raw-events. It has no
// effects beside its temporary file.
type ledger struct {
	selection Selection
	keyID     uint32 // of the fingerprints that are known
	raw       map[int32]*calls
	names     *names
	piles     piles
	rows      map[rowKey]*Row
	// replays is the time of which what replays delivered is counted.
	replays within
	// lettersCut says that dead letters of the range may be gone.
	lettersCut bool

	// cutUntil is when the journal begins where retention has cut it; zero: nowhere.
	cutUntil time.Time

	journalled map[string]bool  // topics of which sinks have written the journal
	holes      map[place][]fact // by call: where its event was seen last
	listed     int              // of those
	missing    []Missing
	doubts     map[doubtKey]*Doubt
}

// within is a time, the end excluded.
type within struct{ from, to time.Time }

func (w within) has(at time.Time) bool { return !at.Before(w.from) && at.Before(w.to) }

type rowKey struct{ source, destination uint16 }

// mostListed is how many missing events are named.
const mostListed = 100_000

// Selection says whose events are audited; empty: everybody's.
type Selection struct{ Source, Destination string }

func newLedger(selection Selection, keyID uint32, raw map[int32]*calls) *ledger {
	return &ledger{
		selection: selection, keyID: keyID, raw: raw, names: newNames(), piles: newPiles(), rows: make(map[rowKey]*Row),
		holes: make(map[place][]fact), doubts: make(map[doubtKey]*Doubt), journalled: make(map[string]bool),
	}
}

func (l *ledger) selects(source string) bool {
	return l.selection.Source == "" || source == l.selection.Source
}

func (l *ledger) row(source, destination uint16) *Row {
	key := rowKey{source, destination}
	r := l.rows[key]
	if r == nil {
		r = &Row{Source: l.names.texts[source], Destination: l.names.texts[destination]}
		l.rows[key] = r
	}
	return r
}

type doubtKey struct {
	cause Cause
	part  string
}

// doubt notes that of some events of a part nothing can be said, one of them of a time; zero:
// nobody knows of which.
func (l *ledger) doubt(cause Cause, part string, events int64, at time.Time) {
	key := doubtKey{cause, part}
	d := l.doubts[key]
	if d == nil {
		d = &Doubt{Cause: cause, Part: part}
		l.doubts[key] = d
	}
	d.Events += events
	if at.IsZero() {
		return
	}
	if d.From.IsZero() || at.Before(d.From) {
		d.From = at.UTC()
	}
	if at.After(d.To) {
		d.To = at.UTC()
	}
}

func partOf(topic string, partition int32) string { return fmt.Sprintf("%s[%d]", topic, partition) }

// result is what it comes to, once each call was taken.
func (l *ledger) result() ([]Row, []Missing, []Doubt) {
	for num, c := range l.raw {
		if n := c.phantoms(); n > 0 {
			l.doubt(NoCall, partOf(schemas.TopicRawEvents, num), n, time.Time{})
		}
	}
	rows := make([]Row, 0, len(l.rows)) // never null
	for _, r := range l.rows {
		if *r != (Row{Source: r.Source, Destination: r.Destination}) {
			rows = append(rows, *r)
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
	})
	missing := append([]Missing{}, l.missing...)
	slices.SortStableFunc(missing, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Destination, b.Destination))
	})
	doubts := make([]Doubt, 0, len(l.doubts))
	for _, d := range l.doubts {
		doubts = append(doubts, *d)
	}
	slices.SortFunc(doubts, func(a, b Doubt) int {
		return cmp.Or(cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Part, b.Part))
	})
	return rows, missing, doubts
}
