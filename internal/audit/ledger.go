package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
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

// record takes a record of the journal.
func (l *ledger) record(r *journal.Record) error {
	switch {
	case r.KeyID != l.keyID:
		l.doubt(OtherKey, r.Topic, int64(r.Len()), r.Base)
		return nil
	case r.OfCalls():
		return l.decisions(r)
	}
	l.journalled[r.Topic] = true
	if _, replay := schemas.ReplayedTo(r.Topic); r.Lost > 0 && !replay {
		l.doubt(Unwritten, r.Topic, int64(r.Lost), r.Base)
	}
	return l.attempts(r)
}

func (l *ledger) decisions(r *journal.Record) error {
	c := l.raw[r.Partition]
	if c == nil || r.Topic != schemas.TopicRawEvents {
		return nil
	}
	c.cover(ranges.Range{Start: r.From, End: r.Next})
	if c.cut && r.From < c.Start {
		l.doubt(Deleted, partOf(r.Topic, r.Partition), 0, r.Base)
	}
	when := seconds(r.Base)
	for call := range r.Calls() {
		if !c.has(call.Offset) || !l.selects(call.Source) {
			continue
		}
		first := c.tell(call.Offset)
		at := place{0, uint16(r.Partition), call.Offset}
		if err := l.decided(&call, at, when, first); err != nil {
			return err
		}
	}
	return nil
}

// decided takes what became of a call at the router, for the first time or once more.
func (l *ledger) decided(call *journal.Call, at place, when uint32, first bool) error {
	source := l.names.of(call.Source)
	count := func(destination uint16, outcome func(*Row) *int64) {
		row := l.row(source, destination)
		if !first {
			row.Repeats++
			return
		}
		row.Accepted++
		*outcome(row)++
	}
	switch call.Result {
	case journal.Unconnected:
		count(0, func(r *Row) *int64 { return &r.Unconnected })
	case journal.Duplicate:
		count(0, func(r *Row) *int64 { return &r.Duplicate })
	case journal.CallDead:
		if !first {
			l.row(source, 0).Repeats++
			return nil
		}
		return l.piles.add(fact{fingerprint: atPlace(int32(at.partition), at.offset), kind: buried, at: at, source: source, when: when})
	case journal.Routed:
	}
	for _, d := range call.Decisions {
		if l.selection.Destination != "" && d.Destination != l.selection.Destination {
			continue
		}
		destination := l.names.of(d.Destination)
		f := fact{fingerprint: call.Fingerprint, destination: destination, kind: sent, at: at, source: source, when: when}
		if outcome := settled(&d); outcome != nil {
			count(destination, outcome)
			continue
		}
		switch {
		case !first:
			l.row(source, destination).Repeats++
			continue
		case d.Result == journal.DecisionDead:
			f.kind = buried
		}
		if err := l.piles.add(f); err != nil {
			return err
		}
	}
	return nil
}

// settled is what a decision comes to of which nothing more is to be told: what was left out,
// and what is on a topic, where to be is to be delivered. Nil: somebody else tells.
func settled(d *journal.Decision) func(*Row) *int64 {
	switch {
	case d.Result == journal.Filtered:
		return func(r *Row) *int64 { return &r.Filtered }
	case d.Result == journal.Sent && d.Why != "":
		return func(r *Row) *int64 { return &r.Delivered }
	}
	return nil
}

// atPlace stands for a record of raw-events whose headers may not say whose it is.
func atPlace(partition int32, offset int64) uint64 {
	const odd = 0x9e3779b97f4a7c15 // evenly spread: piles go by the first bits
	return (uint64(offset)<<16 | uint64(uint16(partition))) * odd
}

func (l *ledger) attempts(r *journal.Record) error {
	topic := l.names.of(r.Topic)
	_, fresh := schemas.RoutedTo(r.Topic)
	for a := range r.Attempts() {
		if a.Run != "" {
			l.replay(&a)
			continue
		}
		f := fact{
			fingerprint: a.Fingerprint, destination: l.names.of(a.Destination), kind: handed, at: place{topic, uint16(r.Partition), a.Offset},
			number: uint8(min(a.Number, math.MaxUint8)), asked: a.Endpoints != 0, fresh: fresh, when: seconds(a.At),
		}
		switch a.Outcome {
		case journal.Delivered:
			f.kind = delivered
		case journal.Dead:
			f.kind = dead
		case journal.Retried, journal.Withheld, journal.Deferred:
			f.to = l.names.of(a.Topic)
		}
		if err := l.piles.add(f); err != nil {
			return err
		}
	}
	return nil
}

// replay counts what a replay has delivered, by when it did. It is no part of the equation:
// the call may have been accepted long before, and at this destination never been wanted. A
// sink that was killed tells of one or the other twice.
func (l *ledger) replay(a *journal.Attempt) {
	if a.Outcome != journal.Delivered || !l.replays.has(a.At) || !l.selects(a.Source) ||
		l.selection.Destination != "" && a.Destination != l.selection.Destination {
		return
	}
	l.row(l.names.of(a.Source), l.names.of(a.Destination)).Replayed++
}

// wait takes a record that nobody has finished.
func (l *ledger) wait(topic string, partition int32, offset int64, fingerprint uint64, destination string) error {
	_, fresh := schemas.RoutedTo(topic)
	return l.piles.add(fact{
		fingerprint: fingerprint, destination: l.names.of(destination), kind: waiting, fresh: fresh,
		at: place{l.names.of(topic), uint16(partition), offset},
	})
}

// bury takes a dead letter, when it was sent again, zero: never, and whether it arrived by
// that. Of one that the router gave up before it knew a destination, from says which call it
// was.
func (l *ledger) bury(at place, from schemas.Position, fingerprint uint64, destination string, again time.Time, arrived bool) error {
	if destination == "" {
		if from.Topic != schemas.TopicRawEvents {
			return nil // it never was on raw-events
		}
		fingerprint = atPlace(from.Partition, from.Offset)
		again = time.Time{} // that is another call on raw-events
	}
	f := fact{fingerprint: fingerprint, destination: l.names.of(destination), kind: letter, at: at}
	if err := l.piles.add(f); err != nil || again.IsZero() {
		return err
	}
	f.kind, f.when = redriven, seconds(again)
	if err := l.piles.add(f); err != nil || !arrived {
		return err
	}
	f.kind, f.fresh = delivered, true // on the destination's topic, where nobody attempts anything
	return l.piles.add(f)
}

// balance holds what was sent on against what came of it.
func (l *ledger) balance() error {
	return l.piles.each(func(group []fact) {
		v := judge(group, l.lettersCut)
		if v.accepted == 0 {
			return
		}
		f := &group[0]
		r := l.row(f.source, f.destination)
		r.Accepted += int64(v.accepted)
		r.Delivered += int64(v.delivered)
		r.Dead += int64(v.dead)
		r.Waiting += int64(v.waiting)
		r.Repeats += int64(v.repeats)
		if v.unproven > 0 {
			l.doubt(LettersGone, schemas.TopicDeadLetters, int64(v.unproven), v.last.time())
		}
		if v.missing > 0 {
			l.lose(r, &v, f)
		}
	})
}

// lose takes the calls of a verdict that are missing. What became of an event before the
// journal begins, or at a sink that keeps none, nobody knows.
func (l *ledger) lose(r *Row, v *verdict, f *fact) {
	topic := l.topicOf(l.names.texts[f.destination])
	unsaid := v.last.kind == sent && !l.journalled[topic] || v.last.time().Before(l.cutUntil)
	if f.destination != 0 && unsaid {
		r.Accepted -= int64(v.missing)
		l.doubt(NotJournalled, topic, int64(v.missing), v.last.time())
		return
	}
	r.Missing += int64(v.missing)
	for _, at := range v.lost {
		if l.listed == mostListed {
			return
		}
		last := v.last
		last.destination, last.source = f.destination, f.source
		l.holes[at] = append(l.holes[at], last)
		l.listed++
	}
}

// call takes a call of raw-events, behind the balance. Its headers are looked at where they
// are wanted.
func (l *ledger) call(partition int32, offset int64, taken time.Time, headers func() (source, messageID string)) {
	c := l.raw[partition]
	if c == nil || !c.has(offset) {
		return
	}
	at := place{0, uint16(partition), offset}
	if c.tells(offset) {
		c.known++
		if holes := l.holes[at]; holes != nil {
			_, messageID := headers()
			for i := range holes {
				l.miss(messageID, holes[i].source, holes[i].destination, l.lastSeen(&holes[i]))
			}
			delete(l.holes, at)
		}
		return
	}
	source, messageID := headers()
	if !l.selects(source) {
		return
	}
	if offset < c.routed && !c.covers(offset) {
		l.doubt(NotJournalled, partOf(schemas.TopicRawEvents, partition), 1, taken)
		return
	}
	num := l.names.of(source)
	r := l.row(num, 0)
	r.Accepted++
	if offset >= c.routed {
		r.Waiting++
		return
	}
	r.Missing++
	if l.listed < mostListed {
		l.listed++
		l.miss(messageID, num, 0, schemas.Position{Topic: schemas.TopicRawEvents, Partition: partition, Offset: offset}.String())
	}
}

func (l *ledger) miss(messageID string, source, destination uint16, seen string) {
	l.missing = append(l.missing, Missing{MessageID: messageID, Source: l.names.texts[source], Destination: l.names.texts[destination], LastSeen: seen})
}

// lastSeen says where an event was seen last.
func (l *ledger) lastSeen(f *fact) string {
	at := schemas.Position{Topic: l.names.texts[f.at.topic], Partition: int32(f.at.partition), Offset: f.at.offset}
	to := l.topicOf(l.names.texts[f.destination])
	when := ""
	if f.when != 0 {
		when = " at " + terminal.Moment(f.time())
	}
	switch f.kind {
	case sent:
		at.Topic = schemas.TopicRawEvents
		return at.String() + ": routed to " + to + when
	case buried:
		at.Topic = schemas.TopicRawEvents
		return at.String() + ": given up by the router" + when + ", without a dead letter"
	case redriven:
		return at.String() + ": redriven to " + to + when
	case handed:
		return fmt.Sprintf("%s: attempt %d, put on %s%s", at, f.number, l.names.texts[f.to], when)
	case dead:
		return fmt.Sprintf("%s: attempt %d, given up%s, without a dead letter", at, f.number, when)
	case letter, waiting, delivered:
	}
	return at.String() + when
}

// topicOf is the topic of a destination's events: of webhooks, unless there is word of an
// archive of that id.
func (l *ledger) topicOf(destination string) string {
	archive := schemas.ArchiveTopic(destination)
	if _, met := l.names.numbers[archive]; met {
		return archive
	}
	return schemas.DeliverTopic(destination)
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
