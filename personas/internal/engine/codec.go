package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/anabranch/anabranch/personas/internal/state"
)

// ErrRecord is wrapped by the error of a record that is no profile.
var ErrRecord = errors.New("not the record of a profile")

// recordVersion is the first byte of a record.
const recordVersion = 1

// epoch is what instants are written from: 2020.
const epoch = int64(1_577_836_800_000)

// The flags that say what a record has.
const (
	flagSeen = 1 << iota
	flagIdentified
	flagDue
	flagRedirect
	flagLinks
	flagDeletion
	flagRefused
	flagRank
)

// Append appends the profile as it is stored, for the catalogue that it was last used
// with: at most MaxRecordBytes, for which states lose what is oldest in them, the longest
// first (only Links can make it longer). State that no definition needs is left out.
func (p *Profile) Append(dst []byte) []byte {
	start := len(dst)
	for {
		dst = p.appendLeaves(p.appendHead(dst[:start]))
		if len(dst)-start <= MaxRecordBytes || p.c == nil || !p.shed() {
			return dst
		}
		p.c.counts.Shed.Add(1)
	}
}

func (p *Profile) appendHead(dst []byte) []byte {
	dst = append(dst, recordVersion, p.flags(), 0) // the 0 has no meaning any more
	if p.seen {
		dst = binary.AppendVarint(dst, p.first-epoch)
		dst = binary.AppendUvarint(dst, uint64(p.last-p.first))
	}
	dst = binary.AppendUvarint(dst, p.seq)
	if p.due != 0 {
		dst = binary.AppendVarint(dst, p.due-p.base())
	}
	if p.Redirect != "" {
		dst = appendText(dst, p.Redirect)
	}
	if len(p.Links) > 0 {
		dst = p.appendLinks(dst, p.Links)
	}
	if len(p.Refused) > 0 {
		dst = p.appendLinks(dst, p.Refused)
	}
	if p.Rank > 0 {
		dst = binary.AppendUvarint(dst, p.Rank)
	}
	if p.Deletion != (Deletion{}) {
		dst = appendText(binary.AppendVarint(dst, p.Deletion.Offset), p.Deletion.Request)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.sources)))
	for _, source := range p.sources {
		dst = appendText(dst, source)
	}
	dst = binary.AppendUvarint(dst, uint64(len(p.told)))
	for i := range p.told {
		dst = p.told[i].append(dst, p.base())
	}
	return dst
}

func (p *Profile) appendLinks(dst []byte, links []Link) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(links)))
	for _, link := range links {
		dst = binary.AppendVarint(appendText(dst, link.ID), link.At.UnixMilli()-p.base())
	}
	return dst
}

func (p *Profile) flags() byte {
	return byte(index(p.seen)*flagSeen | index(p.identified)*flagIdentified | index(p.due != 0)*flagDue |
		index(p.Redirect != "")*flagRedirect | index(len(p.Links) > 0)*flagLinks | index(p.Deletion != Deletion{})*flagDeletion |
		index(len(p.Refused) > 0)*flagRefused | index(p.Rank > 0)*flagRank)
}

// base is what instants are written from that are mostly near the last call.
func (p *Profile) base() int64 {
	if p.seen {
		return p.last
	}
	return epoch
}

func (t *told) append(dst []byte, base int64) []byte {
	dst = appendID(dst, t.id)
	ago := uint64((base-t.at)<<1 ^ (base-t.at)>>63)
	dst = binary.AppendUvarint(dst, ago<<2|uint64(index(t.member)|index(t.digest != nil)<<1))
	if t.digest != nil {
		dst = appendText(dst, string(t.digest))
	}
	return dst
}

func appendID(dst []byte, id uint64) []byte {
	return append(dst, byte(id>>32), byte(id>>24), byte(id>>16), byte(id>>8), byte(id))
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func (p *Profile) appendLeaves(dst []byte) []byte {
	for i := range p.entries {
		before := len(dst)
		dst = appendID(dst, uint64(p.entries[i].id))
		start := len(dst)
		dst = p.appendState(dst, &p.entries[i])
		size := len(dst) - start
		if size == 0 {
			dst = dst[:before]
			continue
		}
		var length [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(size))
		dst = append(dst, length[:n]...)
		copy(dst[start+n:], dst[start:start+size])
		copy(dst[start:], length[:n])
	}
	return dst
}

// appendState appends the state of a leaf; nothing: it is as good as none, or no
// definition needs it.
func (p *Profile) appendState(dst []byte, e *entry) []byte {
	var l *leaf
	if p.c != nil {
		if l = p.c.find(e.id); l == nil {
			return dst
		}
	}
	if e.st == nil || l == nil {
		return append(dst, e.raw...)
	}
	return e.st.Append(dst, &l.spec, max(p.clock, p.last))
}

// shed has the longest state that can lose something do so.
func (p *Profile) shed() bool {
	var longest *leaf
	most := 0
	for i := range p.entries {
		l := p.c.find(p.entries[i].id)
		if l == nil {
			continue
		}
		size := len(p.appendState(nil, &p.entries[i]))
		if size > most && p.mutable(l).Clone().Shed(&l.spec) {
			longest, most = l, size
		}
	}
	return longest != nil && p.mutable(longest).Shed(&longest.spec)
}

// Decode reads what [Profile.Append] wrote. The profile holds on to record, which must not
// change afterwards. Any bytes are safe; the error wraps ErrRecord. The states of leaves
// are read when they are needed: a broken one then begins anew, and is counted.
func (c *Catalogue) Decode(record []byte) (*Profile, error) {
	if len(record) < 2 {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrRecord, len(record))
	}
	if record[0] != recordVersion {
		return nil, fmt.Errorf("%w of this release: version %d, expected %d", ErrRecord, record[0], recordVersion)
	}
	r := state.Reader{Rest: record[2:]}
	p := &Profile{}
	p.decodeHead(&r, record[1])
	p.decodeTold(&r)
	p.decodeLeaves(&r)
	if r.Failed {
		return nil, fmt.Errorf("%w: it ends early, or is out of order", ErrRecord)
	}
	p.bind(c)
	return p, nil
}

func (p *Profile) decodeHead(r *state.Reader, flags byte) {
	has := func(flag byte) bool { return flags&flag != 0 }
	_ = r.Unsigned()
	p.seen, p.identified = has(flagSeen), has(flagIdentified)
	if p.seen {
		p.first = epoch + r.Signed()
		p.last = p.first + int64(r.Unsigned())
		r.Failed = r.Failed || p.last < p.first
	}
	p.seq = r.Unsigned()
	if has(flagDue) {
		p.due = p.base() + r.Signed()
		// It was later than the last call when it was written.
		r.Failed = r.Failed || p.due == 0
	}
	if has(flagRedirect) {
		p.Redirect = string(r.Bytes())
	}
	if has(flagLinks) {
		p.Links = p.decodeLinks(r)
	}
	if has(flagRefused) {
		p.Refused = p.decodeLinks(r)
	}
	if has(flagRank) {
		p.Rank = r.Unsigned()
	}
	if has(flagDeletion) {
		p.Deletion = Deletion{r.Signed(), string(r.Bytes())}
	}
	for range count(r) {
		source := string(r.Bytes())
		if n := len(p.sources); n > 0 && p.sources[n-1] >= source {
			r.Failed = true
		}
		p.sources = append(p.sources, source)
	}
}

func (p *Profile) decodeLinks(r *state.Reader) (links []Link) {
	for range count(r) {
		links = append(links, Link{string(r.Bytes()), time.UnixMilli(p.base() + r.Signed()).UTC()})
	}
	return links
}

// count reads how many follow; each has a byte at least.
func count(r *state.Reader) int {
	n := r.Unsigned()
	if n > uint64(len(r.Rest)) {
		r.Failed = true
		return 0
	}
	return int(n)
}

func (p *Profile) decodeTold(r *state.Reader) {
	n := count(r)
	p.told = make([]told, 0, n)
	for range n {
		t := told{id: r.ID(idBytes)}
		head := r.Unsigned()
		ago := head >> 2
		t.at = p.base() - (int64(ago>>1) ^ -int64(ago&1))
		t.member = head&1 != 0
		if head&2 != 0 {
			t.digest = append([]byte{}, r.Bytes()...)
		}
		if last := len(p.told) - 1; last >= 0 && p.told[last].id >= t.id {
			r.Failed = true
		}
		p.told = append(p.told, t)
	}
}

func (p *Profile) decodeLeaves(r *state.Reader) {
	p.entries = make([]entry, 0, leavesIn(*r)) // grown step by step it takes thrice the memory
	for len(r.Rest) > 0 && !r.Failed {
		e := entry{id: LeafID(r.ID(idBytes)), raw: r.Bytes()}
		if last := len(p.entries) - 1; e.raw == nil || last >= 0 && p.entries[last].id >= e.id {
			r.Failed = true
		}
		p.entries = append(p.entries, e)
	}
}

// leavesIn is how many leaves follow, at most.
func leavesIn(r state.Reader) (n int) {
	for ; len(r.Rest) > 0 && !r.Failed; n++ {
		_, _ = r.ID(idBytes), r.Bytes()
	}
	return n
}
