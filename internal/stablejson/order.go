package stablejson

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// member is one member of an object, standing somewhere in a buffer as
// "key":value, both stable. Offsets, not slices, so that the buffer may grow.
type member struct {
	start, colon, end int
	rank              uint32 // the value of an array-index key, else notIndex
	print             uint32 // fingerprint of the key; equal keys have equal ones
}

// notIndex is the rank of keys that are no array index: the one value a uint32
// has that ECMAScript does not take for an index, and it sorts behind them all.
const notIndex = math.MaxUint32

// newMember describes the member that ends where text ends.
func newMember(text []byte, start, colon int) member {
	key := text[start+1 : colon-1]
	return member{start: start, colon: colon, end: len(text), rank: rankOf(key), print: fingerprint(key)}
}

// key returns the member's key between its quotes. Stable keys are equal just
// when what they stand for is.
func (m *member) key(text []byte) []byte { return text[m.start+1 : m.colon-1] }

// rankOf returns the array index that key is in canonical decimal.
func rankOf(key []byte) uint32 {
	if len(key) == 0 || len(key) > len("4294967294") || !isDigit(key[0]) || key[0] == '0' && len(key) > 1 {
		return notIndex
	}
	var rank uint64
	for _, c := range key {
		if !isDigit(c) {
			return notIndex
		}
		rank = rank*10 + uint64(c-'0')
	}
	return uint32(min(rank, notIndex))
}

// fingerprint tells most keys apart by their length and their first and last
// eight bytes. It is no defence against keys made to collide: whatever is built on
// it has to stay fast when all fingerprints are equal.
func fingerprint(key []byte) uint32 {
	const odd = 0x9E3779B97F4A7C15
	var head, tail uint64
	switch n := len(key); {
	case n >= 8:
		head, tail = binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:])
	case n >= 4:
		head, tail = uint64(binary.LittleEndian.Uint32(key)), uint64(binary.LittleEndian.Uint32(key[n-4:]))
	case n > 0:
		head, tail = uint64(key[0]), uint64(key[n/2])<<8|uint64(key[n-1])
	}
	return uint32(((head*odd ^ tail) + uint64(len(key))) * odd >> 32)
}

// few is up to how many members are searched one by one. Beyond, searches use a
// table, so that an object of many thousand keys costs no more than its share.
const few = 32

// arranged reports whether members stand in stable order, each key once.
func arranged(text []byte, members []member) bool {
	if !ranked(members) {
		return false
	}
	if len(members) > few {
		return !hasDuplicates(text, members)
	}
	// One bit per fingerprint spares nearly all keys the comparison with all
	// keys before them.
	var seen uint64
	for i := range members {
		bit := uint64(1) << (members[i].print >> 26)
		if seen&bit != 0 && holds(text, members[:i], &members[i]) {
			return false
		}
		seen |= bit
	}
	return true
}

// ranked reports whether index keys come first, ascending.
func ranked(members []member) bool {
	for i := 1; i < len(members); i++ {
		if members[i].rank < members[i-1].rank {
			return false
		}
	}
	return true
}

// holds reports whether one of members has the key of m.
func holds(text []byte, members []member, m *member) bool {
	for i := range members {
		if members[i].print == m.print && string(members[i].key(text)) == string(m.key(text)) {
			return true
		}
	}
	return false
}

// arrange puts members into stable order and drops those whose key comes again
// later, with the last value in the place of the first. It works in the given
// memory and returns the part that is left.
func arrange(text []byte, members []member) []member {
	const dropped = 0 // no member ends there
	seen := newTable(len(members))
	for i := range members {
		if first, again := seen.add(text, members, i); again {
			members[first] = members[i]
			members[i].end = dropped
		}
	}
	members = slices.DeleteFunc(members, func(m member) bool { return m.end == dropped })
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.rank, b.rank) })
	return members
}

func hasDuplicates(text []byte, members []member) bool {
	seen := newTable(len(members))
	for i := range members {
		if _, again := seen.add(text, members, i); again {
			return true
		}
	}
	return false
}

// rewrite puts members in the given order in the place of what stands behind
// open, each with a comma behind it. All of them are in text already, so they are
// written to its end first and moved down.
func rewrite(text []byte, open int, members []member) []byte {
	end := len(text)
	text = appendAll(text, text, members)
	return text[:open+copy(text[open:], text[end:])]
}

// appendAll appends members of text, each with a comma behind it.
func appendAll(dst, text []byte, members []member) []byte {
	for i := range members {
		dst = append(dst, text[members[i].start:members[i].end]...)
		dst = append(dst, ',')
	}
	return dst
}
