package audit

import (
	"cmp"
	"encoding/binary"
	"time"
)

// kind is what a fact says. Facts of one group come in this order.
type kind uint8

const (
	sent      kind = iota // the router sent a call on; at: the call on raw-events
	buried                // the router gave a call up; at: the same
	redriven              // a dead letter was sent again; at: the letter
	letter                // a dead letter is there; at: the letter
	waiting               // a record is not finished; at: the record
	delivered             // an attempt, and so on; at: the record that was attempted
	handed                // a record was put on another topic, after an attempt or for want of one
	dead                  // a record was given up
)

// fact is one thing that is known of an event at a destination. There are tens of
// millions, so texts are numbers (names) and it takes [factBytes] when it is put aside.
type fact struct {
	fingerprint uint64
	destination uint16
	kind        kind
	at          place
	to          uint16 // handed: the topic that it went to
	source      uint16 // sent, buried
	number      uint8  // of the attempt; more than a byte holds: the most that it holds
	asked       bool   // an endpoint was asked
	fresh       bool   // the record stands on the topic of its destination
	when        uint32 // in seconds since 1970
}

// place is where a record stands.
type place struct {
	topic     uint16
	partition uint16
	offset    int64
}

// factBytes is what a fact takes on disk.
const factBytes = 32

func (f *fact) append(to []byte) []byte {
	to = binary.LittleEndian.AppendUint64(to, f.fingerprint)
	to = binary.LittleEndian.AppendUint64(to, uint64(f.at.offset))
	to = binary.LittleEndian.AppendUint32(to, f.when)
	for _, n := range [...]uint16{f.destination, f.at.topic, f.at.partition, f.to, f.source} {
		to = binary.LittleEndian.AppendUint16(to, n)
	}
	kind := byte(f.kind) << 2
	if f.asked {
		kind |= 1
	}
	if f.fresh {
		kind |= 2
	}
	return append(to, kind, f.number)
}

// factOf reads a fact from [factBytes].
func factOf(b []byte) (f fact) {
	f.fingerprint = binary.LittleEndian.Uint64(b)
	f.at.offset = int64(binary.LittleEndian.Uint64(b[8:]))
	f.when = binary.LittleEndian.Uint32(b[16:])
	for i, n := range [...]*uint16{&f.destination, &f.at.topic, &f.at.partition, &f.to, &f.source} {
		*n = binary.LittleEndian.Uint16(b[20+2*i:])
	}
	f.kind, f.asked, f.fresh, f.number = kind(b[30]>>2), b[30]&1 != 0, b[30]&2 != 0, b[31]
	return f
}

// compareFacts puts what concerns one event at one destination together, and facts of one
// kind about one record next to each other.
func compareFacts(a, b fact) int {
	if c := cmp.Compare(a.fingerprint, b.fingerprint); c != 0 {
		return c
	}
	return cmp.Or(
		cmp.Compare(a.destination, b.destination), cmp.Compare(a.kind, b.kind), cmp.Compare(a.at.topic, b.at.topic),
		cmp.Compare(a.at.partition, b.at.partition), cmp.Compare(a.at.offset, b.at.offset), cmp.Compare(a.number, b.number),
	)
}

// sameGroup reports whether two facts are about the same event at the same destination.
func sameGroup(a, b *fact) bool {
	return a.fingerprint == b.fingerprint && a.destination == b.destination
}

// seconds is a time as a fact has it; zero for none.
func seconds(t time.Time) uint32 {
	if t.IsZero() {
		return 0
	}
	return uint32(min(max(t.Unix(), 0), 1<<32-1))
}

// time is when it was; zero: nobody knows.
func (f *fact) time() time.Time {
	if f.when == 0 {
		return time.Time{}
	}
	return time.Unix(int64(f.when), 0).UTC()
}

// names gives texts numbers. There are as many as sources, destinations and topics.
type names struct {
	numbers map[string]uint16
	texts   []string
}

func newNames() *names { return &names{numbers: map[string]uint16{"": 0}, texts: []string{""}} }

// of returns the number of a text; that of none is 0. What there is no number left for
// counts as none: nobody has 65,535 destinations.
func (n *names) of(text string) uint16 {
	num, known := n.numbers[text]
	if known || len(n.texts) > 1<<16-1 {
		return num
	}
	num = uint16(len(n.texts))
	n.numbers[text], n.texts = num, append(n.texts, text)
	return num
}
