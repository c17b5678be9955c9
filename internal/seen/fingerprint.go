package seen

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/dchest/siphash"
)

// Bytes of a fingerprint on disk, and in a digest.
const Bytes = 16

// Fingerprint stands for one call. Two calls of different ids have the same one with a
// chance of one in 2^128.
type Fingerprint struct{ hi, lo uint64 }

// Key is what fingerprints are made with: whoever does not know it can't make calls
// whose fingerprints collide.
type Key struct{ k0, k1 uint64 }

// KeyOf returns the key for what the texts name together, the same in each process.
func KeyOf(texts ...string) Key {
	sum := digestOf("anabranch fingerprints of calls", texts)
	return Key{binary.BigEndian.Uint64(sum[:]), binary.BigEndian.Uint64(sum[8:])}
}

// ID names the key without telling it: whoever keeps fingerprints can say under which key
// they were made.
func (k Key) ID() uint32 {
	both := binary.BigEndian.AppendUint64(nil, k.k0)
	both = binary.BigEndian.AppendUint64(both, k.k1)
	sum := digestOf("anabranch name of a key", []string{string(both)})
	return binary.BigEndian.Uint32(sum[:])
}

// High is the first half of a fingerprint.
func (f Fingerprint) High() uint64 { return f.hi }

// digestOf is a hash of texts for a purpose.
func digestOf(purpose string, texts []string) [sha256.Size]byte {
	all := appendText(nil, purpose)
	for _, text := range texts {
		all = appendText(all, text)
	}
	return sha256.Sum256(all)
}

func appendText[T string | []byte](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// Of returns the fingerprint of the call with a messageId, from a source, under the key
// of its record. It is appended to scratch, whose memory is returned to be used again.
func (k Key) Of(scratch, source, messageID, record []byte) (Fingerprint, []byte) {
	scratch = appendText(scratch[:0], source)
	scratch = appendText(scratch, messageID)
	scratch = append(scratch, record...)
	hi, lo := siphash.Hash128(k.k0, k.k1, scratch)
	return Fingerprint{hi, lo}, scratch
}

// Append appends the bytes of fingerprints.
func Append(to []byte, fps ...Fingerprint) []byte {
	to = slices.Grow(to, len(fps)*Bytes)
	for _, fp := range fps {
		to = binary.BigEndian.AppendUint64(to, fp.hi)
		to = binary.BigEndian.AppendUint64(to, fp.lo)
	}
	return to
}

// Parse appends the fingerprints that all whole ones among some bytes are.
func Parse(to []Fingerprint, from []byte) []Fingerprint {
	to = slices.Grow(to, len(from)/Bytes)
	for ; len(from) >= Bytes; from = from[Bytes:] {
		to = append(to, at(from))
	}
	return to
}

func at(b []byte) Fingerprint {
	return Fingerprint{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func compare(a, b Fingerprint) int {
	return cmp.Or(cmp.Compare(a.hi, b.hi), cmp.Compare(a.lo, b.lo))
}

// sorted returns fingerprints in order, each once. Since they are evenly spread, most of
// the order is known from their first bits.
func sorted(fps []Fingerprint) []Fingerprint {
	const each = 8 // fingerprints of a group
	bits := 0
	for len(fps)>>bits > each {
		bits++
	}
	shift := 64 - bits // of 64 all go to one group
	starts := make([]int, 1<<bits+1)
	for _, fp := range fps {
		starts[fp.hi>>shift+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	ordered, ends := make([]Fingerprint, len(fps)), slices.Clone(starts[:len(starts)-1])
	for _, fp := range fps {
		group := fp.hi >> shift
		ordered[ends[group]] = fp
		ends[group]++
	}
	for i := range ends {
		slices.SortFunc(ordered[starts[i]:ends[i]], compare)
	}
	return slices.Compact(ordered)
}
