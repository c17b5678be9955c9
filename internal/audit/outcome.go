package audit

import (
	"fmt"
	"time"

	"github.com/anabranch/anabranch/internal/terminal"
	"github.com/anabranch/anabranch/schemas"
)

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
