package stablejson

import (
	"hash/maphash"
	"math/bits"
)

// table finds members by their keys: a hash table with open addressing, which
// holds one more than a member's place, and 0 where there is none. At most half of
// it is in use.
type table []uint32

// seed is chance: no keys can be made to collide.
var seed = maphash.MakeSeed()

// newTable returns an empty table for n members and a few more.
func newTable(n int) table { return make(table, 1<<bits.Len(uint(2*n))) }

// tableOf returns a table of members, of which no two have the same key.
func tableOf(text []byte, members []member) table {
	t := newTable(len(members))
	for i := range members {
		t.add(text, members, i)
	}
	return t
}

// find returns the place of the member under a key, -1 for none.
func (t table) find(text []byte, members []member, key []byte) int {
	_, place := t.look(text, members, key)
	return place
}

// add notes members[i], unless there is one with its key already: then it returns
// the place of that.
func (t table) add(text []byte, members []member, i int) (first int, again bool) {
	at, place := t.look(text, members, members[i].key(text))
	if place >= 0 {
		return place, true
	}
	t[at] = uint32(i + 1)
	return i, false
}

// look returns where a key stands or belongs, and the place of its member, -1 for
// none.
func (t table) look(text []byte, members []member, key []byte) (at uint64, place int) {
	mask := uint64(len(t) - 1)
	for at = maphash.Bytes(seed, key) & mask; t[at] != 0; at = (at + 1) & mask {
		place = int(t[at] - 1)
		if string(members[place].key(text)) == string(key) {
			return at, place
		}
	}
	return at, -1
}

// holds reports whether there is room for so many members.
func (t table) holds(n int) bool { return 2*n <= len(t) }
