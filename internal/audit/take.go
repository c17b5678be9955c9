package audit

import (
	"math"
	"time"

	"github.com/anabranch/anabranch/internal/kafka/ranges"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/schemas/journal"
)

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
