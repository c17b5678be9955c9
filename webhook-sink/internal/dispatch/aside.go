package dispatch

import (
	"slices"

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
	keys    map[uint64]*asideKey // by fingerprint
	reading bool                 // a part is being read once more
	// until is behind all that the commit contains with which reading began: of what it
	// contains, the tracker drops the events of these keys too.
	until    int64
	revision uint64 // changes with all that a commit says of them
}

// asideKey is one of them.
type asideKey struct {
	// away: what is read of the key from since on is passed over, and brought later. It
	// ends when all of that was brought; then the key stays here until the last of it
	// is finished.
	away    bool
	since   int64
	next    int64     // everything of the key below was brought
	skipped int64     // about how many were passed over and not brought yet
	brought []brought // and not finished, ascending
	held    int       // their bytes
	taken   int64     // when the oldest that is not finished was, 0 when not known
	reached bool      // the part that is being brought begins where the key needs it
}

type brought struct{ offset, taken int64 }

// newAside returns what a commit knew of.
func newAside(before offsets.Done) (a aside) {
	a.until = before.End()
	for _, k := range before.Aside() {
		a.add(k.Key, &asideKey{away: true, since: k.From, next: k.From, skipped: k.Count})
	}
	return a
}

func (a *aside) add(fingerprint uint64, k *asideKey) {
	if a.keys == nil {
		a.keys = make(map[uint64]*asideKey)
	}
	a.keys[fingerprint] = k
}

// of returns the key's entry, nil when it is not set aside.
func (a *aside) of(key []byte) *asideKey {
	if len(a.keys) == 0 {
		return nil
	}
	return a.keys[offsets.Fingerprint(key)]
}

// room reports whether a key may be set aside. One that is away already may not:
// what waits of it then is that of another key with the same fingerprint.
func (a *aside) room(key []byte) bool {
	k := a.of(key)
	return k == nil && len(a.keys) < offsets.MaxAside || k != nil && !k.away
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
func (k *asideKey) from() int64 {
	if len(k.brought) > 0 {
		return k.brought[0].offset
	}
	return k.next
}

func (k *asideKey) unfinished() int64 { return k.skipped + int64(len(k.brought)) }

// rewind is told that the log was written anew from an offset on.
func (a *aside) rewind(offset int64) {
	a.until = 0
	for _, k := range a.keys {
		k.since, k.next = min(k.since, offset), min(k.next, offset)
		a.revision++
	}
}

// finished notes that an event which was brought is finished.
func (a *aside) finished(k *asideKey, offset int64) {
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

// finish notes that a job is finished.
func (j *Job) finish() {
	if j.aside != nil {
		j.part.aside.finished(j.aside, j.Record.Offset)
		return
	}
	j.part.tracker.Finish(j.Record.Offset, j.reading)
}

// skips passes over a record whose key is away. After a change of hands the first of
// the key may stand before those that were set aside: they are followed like all
// others, and nothing is brought before they were read.
func (p *partition) skips(j *Job) bool {
	k := p.aside.of(j.Record.Key)
	if k == nil || !k.away || j.Record.Offset < k.since {
		return false
	}
	k.skip(j)
	return true
}

// skip leaves an event to the second reader. For the tracker it is finished: a commit
// says that it is not.
func (k *asideKey) skip(j *Job) {
	k.skipped++
	j.part.tracker.Finish(j.Record.Offset, j.reading)
}
