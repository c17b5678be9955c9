package seen

import "slices"

// stream returns fingerprints one by one, in order; false behind the last.
type stream func() (Fingerprint, bool, error)

// each is the stream of some fingerprints.
func each(fps []Fingerprint) stream {
	return func() (fp Fingerprint, more bool, err error) {
		if len(fps) == 0 {
			return fp, false, nil
		}
		fp, fps = fps[0], fps[1:]
		return fp, true, nil
	}
}

// all is the stream of a run.
func (r *run) all() stream {
	buffer, page, num := make([]byte, pageBytes), []byte(nil), 0
	var last Fingerprint
	return func() (Fingerprint, bool, error) {
		if len(page) == 0 {
			if num == len(r.fences) {
				return Fingerprint{}, false, nil
			}
			var err error
			if page, err = r.page(num, buffer); err != nil {
				return Fingerprint{}, false, err
			}
			num++
		}
		fp := at(page)
		if page = page[Bytes:]; compare(fp, last) < 0 {
			return fp, false, corrupt("page %d is out of order", num-1)
		}
		last = fp
		return fp, true, nil
	}
}

// merge is several streams as one, with what several of them have in it once. They are
// few: the least of them is looked for.
type merge struct {
	heads []head
	last  Fingerprint
	begun bool
}

type head struct {
	Fingerprint

	next stream
}

// merged returns the stream of several.
func merged(streams []stream) stream {
	m := new(merge)
	return func() (Fingerprint, bool, error) {
		for _, next := range streams {
			m.heads = append(m.heads, head{next: next})
			if err := m.advance(len(m.heads) - 1); err != nil {
				return Fingerprint{}, false, err
			}
		}
		streams = nil
		return m.next()
	}
}

func (m *merge) next() (Fingerprint, bool, error) {
	for len(m.heads) > 0 {
		least := 0
		for i := range m.heads {
			if compare(m.heads[i].Fingerprint, m.heads[least].Fingerprint) < 0 {
				least = i
			}
		}
		fp := m.heads[least].Fingerprint
		if err := m.advance(least); err != nil {
			return fp, false, err
		}
		if !m.begun || fp != m.last {
			m.begun, m.last = true, fp
			return fp, true, nil
		}
	}
	return Fingerprint{}, false, nil
}

// advance moves a head on, and drops it behind its last fingerprint.
func (m *merge) advance(i int) error {
	fp, more, err := m.heads[i].next()
	if m.heads[i].Fingerprint = fp; !more {
		m.heads = slices.Delete(m.heads, i, i+1)
	}
	return err
}

// fan is how many runs of a size are merged, of a bucket that still grows.
const fan = 8

// mergeable returns which of some runs, which are in the order of their offsets, to merge
// next; from == to: none. The buckets before now do not grow any more: each is merged into
// one run.
func mergeable(runs []*run, now int64) (from, to int) {
	for from = 0; from < len(runs); from = max(to, from+1) {
		for to = from; to < len(runs) && runs[to].bucket == runs[from].bucket && runs[to].file != nil; to++ {
			if runs[from].bucket >= now && (runs[to].size() != runs[from].size() || to-from == fan) {
				break
			}
		}
		if to-from >= fan || to-from > 1 && runs[from].bucket < now {
			return from, to
		}
	}
	return 0, 0
}

// size is the class of runs that a run is merged with.
func (r *run) size() int {
	class := 0
	for n := r.count / generationSize; n >= fan; n /= fan {
		class++
	}
	return class
}
