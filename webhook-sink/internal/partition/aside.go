package partition

import (
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

// aside are the keys of a partition that are set aside: each has more events than
// its receiver takes one at a time, and all of them in memory would leave no room
// for those of other keys. The partition is read on past them, and a second reader
// brings them back from the brokers, a few at a time. The zero value has none.
//
// Since the events of a key finish in order, one offset per key tells a commit how
// far it is, however many there are.
type aside struct {
	keys    map[uint64]*Key // by fingerprint
	reading bool            // a part is being read once more
	// until is behind all that the commit contains with which reading began: of what it
	// contains, the tracker drops the events of these keys too.
	until    int64
	revision uint64 // changes with all that a commit says of them
}

// Key is one that is set aside.
type Key struct {
	// Held is how many bytes of its events are in memory: the dispatcher's account.
	Held int

	// away: what is read of the key from since on is passed over, and brought later. It
	// ends when all of that was brought; then the key stays here until the last of it
	// is finished.
	away    bool
	since   int64
	next    int64     // everything of the key below was brought
	skipped int64     // about how many were passed over and not brought yet
	brought []brought // and not finished, ascending
	taken   int64     // when the oldest that is not finished was, 0 when not known
	reached bool      // the part that is being brought begins where the key needs it
}

type brought struct{ offset, taken int64 }

// newAside returns what a commit knew of.
func newAside(before offsets.Done) (a aside) {
	a.until = before.End()
	for _, k := range before.Aside() {
		a.add(k.Key, &Key{away: true, since: k.From, next: k.From, skipped: k.Count})
	}
	return a
}

func (a *aside) add(fingerprint uint64, k *Key) {
	if a.keys == nil {
		a.keys = make(map[uint64]*Key)
	}
	a.keys[fingerprint] = k
}

// of returns the key's entry, nil when it is not set aside.
func (a *aside) of(key []byte) *Key {
	if len(a.keys) == 0 {
		return nil
	}
	return a.keys[offsets.Fingerprint(key)]
}

// marks are what a commit says of the keys.
func (a *aside) marks() []offsets.Aside {
	if len(a.keys) == 0 {
		return nil
	}
	all := make([]offsets.Aside, 0, len(a.keys))
	for fingerprint, k := range a.keys {
		all = append(all, offsets.Aside{Key: fingerprint, From: k.from(), Count: k.unfinished()})
	}
	return all
}

// from is below all of the key that is not finished and not in the tracker.
func (k *Key) from() int64 {
	if len(k.brought) > 0 {
		return k.brought[0].offset
	}
	return k.next
}

func (k *Key) unfinished() int64 { return k.skipped + int64(len(k.brought)) }

// rewind is told that the log was written anew from an offset on.
func (a *aside) rewind(offset int64) {
	a.until = 0
	for _, k := range a.keys {
		k.since, k.next = min(k.since, offset), min(k.next, offset)
		a.revision++
	}
}

// finished notes that an event which was brought is finished.
func (a *aside) finished(k *Key, offset int64) {
	k.brought = slices.DeleteFunc(k.brought, func(b brought) bool {
		if b.offset == offset {
			k.taken = b.taken // the next is no older
		}
		return b.offset == offset
	})
	if len(k.brought) > 0 {
		k.taken = k.brought[0].taken
	}
	a.revision++
	a.tidy()
}

// tidy forgets the keys of which nothing is left.
func (a *aside) tidy() {
	for fingerprint, k := range a.keys {
		if !k.away && len(k.brought) == 0 {
			delete(a.keys, fingerprint)
		}
	}
}

// AsideKeys is how many keys are set aside.
func (p *Partition) AsideKeys() int { return len(p.aside.keys) }

// Away is how many keys that are set aside are passed over in what is read.
func (p *Partition) Away() int {
	n := 0
	for _, k := range p.aside.keys {
		if k.away {
			n++
		}
	}
	return n
}

// MayLeave reports whether a key may be set aside. One that is away already may not:
// what waits of it then is that of another key with the same fingerprint.
func (p *Partition) MayLeave(key []byte) bool {
	k := p.aside.of(key)
	return k == nil && len(p.aside.keys) < offsets.MaxAside || k != nil && !k.away
}

// SetAside lets go of the last events of a key that wait, of which rest are the
// offsets, begun in a reading, and first is the first.
func (p *Partition) SetAside(first *kgo.Record, rest []int64, in offsets.Reading) {
	fingerprint := offsets.Fingerprint(first.Key)
	k := p.aside.keys[fingerprint]
	if k == nil {
		k = &Key{}
		p.aside.add(fingerprint, k)
	}
	k.away, k.since, k.next = true, first.Offset, first.Offset
	if len(k.brought) == 0 {
		k.taken = p.Taken(first)
	}
	for _, offset := range rest {
		p.skip(k, offset, in)
	}
	p.aside.revision++
}

// skip leaves an event to the second reader. For the tracker it is finished: a commit
// says that it is not.
func (p *Partition) skip(k *Key, offset int64, in offsets.Reading) {
	k.skipped++
	p.tracker.Finish(offset, in)
}

// Seek is where the next part begins that is to be read once more; false for none.
// That is where the first of the keys needs it of which little is left in memory: each
// may have so many bytes there, unless all of them together have reached their limit.
// While a part is being read there is no other, until Bring is called. back is how many
// keys of which all was brought are read with all others again.
func (p *Partition) Seek(each int, full bool) (from int64, back int, ok bool) {
	if p.aside.reading {
		return 0, 0, false
	}
	read, _ := p.tracker.Next()
	back = p.aside.welcome(read)
	from = math.MaxInt64
	for _, k := range p.aside.keys {
		if k.away && k.next < read && (k.Held == 0 || !full && k.Held < each/2) {
			from = min(from, k.next)
		}
	}
	p.aside.reading = from < math.MaxInt64
	return from, back, p.aside.reading
}

// welcome has keys back of which all was brought when reading has come to an offset.
func (a *aside) welcome(read int64) (back int) {
	for _, k := range a.keys {
		if k.away && k.next >= read && read >= a.until {
			k.away, k.skipped = false, 0
			back++
			a.revision++
		}
	}
	a.tidy()
	return back
}

// Bring takes what was found from an offset on to before next. Each record that belongs
// to a key which is away goes to add, which says whether there is room for it now; if
// there is none, the key waits for another part.
func (p *Partition) Bring(from, next int64, records []*kgo.Record, add func(*Key, *kgo.Record) bool) {
	p.aside.reading = false
	read, _ := p.tracker.Next()
	end := min(next, read) // what is beyond will be read by the way
	for _, k := range p.aside.keys {
		k.reached = k.away && k.next >= from
	}
	for _, r := range records {
		k := p.aside.of(r.Key)
		if k == nil || !k.reached || r.Offset < k.next || r.Offset >= end {
			continue
		}
		if !add(k, r) {
			k.reached, k.next = false, r.Offset
			continue
		}
		k.next, k.skipped = r.Offset+1, max(k.skipped-1, 0)
		k.brought = append(k.brought, brought{r.Offset, p.Taken(r)})
		k.taken = k.brought[0].taken
	}
	for _, k := range p.aside.keys {
		if k.reached {
			k.next = max(k.next, end)
		}
	}
	p.aside.revision++
}
