// Package lanes keeps the order of a destination's events: those of one key are
// handed out one at a time, as they came, and those of different keys side by
// side. The lanes live inside a partition, so concurrency does not depend on the
// number of partitions.
package lanes

import "slices"

// Lanes holds what waits, by key. The zero value is ready. It is not safe for
// concurrent use.
type Lanes[T any] struct {
	// ready holds the first of each key that nobody is busy with, in the order in
	// which they became so.
	ready []keyed[T]
	// behind has an entry for every key that is ready or handed out: what waits
	// for its turn behind that one. Most keys have nothing there.
	behind map[string][]T
}

type keyed[T any] struct {
	key  string
	item T
}

// Push adds an item behind all others of its key. Items without a key have no
// order: nothing ever waits for them, nor they for anything.
func (l *Lanes[T]) Push(key string, item T) {
	if key != "" {
		if waiting, busy := l.behind[key]; busy {
			l.behind[key] = append(waiting, item)
			return
		}
		if l.behind == nil {
			l.behind = make(map[string][]T)
		}
		l.behind[key] = nil
	}
	l.ready = append(l.ready, keyed[T]{key, item})
}

// Pop hands out the next item whose key is free; false when there is none. The
// key stays busy until Release.
func (l *Lanes[T]) Pop() (T, bool) {
	if len(l.ready) == 0 {
		var none T
		return none, false
	}
	first := l.ready[0]
	l.ready[0] = keyed[T]{} // or the array would keep it alive
	l.ready = l.ready[1:]
	return first.item, true
}

// PutBack takes back an item that was handed out for key, which stays busy: it comes next.
func (l *Lanes[T]) PutBack(key string, item T) {
	l.ready = slices.Insert(l.ready, 0, keyed[T]{key, item})
}

// Release says that the item handed out for key is done with: the next of that
// key may follow it.
func (l *Lanes[T]) Release(key string) {
	waiting, busy := l.behind[key]
	switch {
	case !busy: // no key
	case len(waiting) == 0:
		delete(l.behind, key)
	default:
		next := waiting[0]
		clear(waiting[:1])
		l.behind[key] = waiting[1:]
		l.ready = append(l.ready, keyed[T]{key, next})
	}
}

// Remove takes out all waiting items that drop chooses. Items handed out are not
// asked about; their keys stay busy.
func (l *Lanes[T]) Remove(drop func(T) bool) {
	for key, waiting := range l.behind {
		l.behind[key] = slices.DeleteFunc(waiting, drop)
	}
	before := l.ready
	l.ready = nil
	for _, k := range before {
		if drop(k.item) {
			l.Release(k.key) // the next of this key takes its place
			continue
		}
		l.ready = append(l.ready, k)
	}
}

// Trim shortens lanes from their ends. keep says of what waits behind the first of a
// key how many stay; the others are handed to cut.
func (l *Lanes[T]) Trim(keep func(waiting []T) int, cut func(rest []T)) {
	for key, waiting := range l.behind {
		if len(waiting) == 0 {
			continue
		}
		if n := keep(waiting); n < len(waiting) {
			cut(waiting[n:])
			clear(waiting[n:]) // or the array would keep them alive
			l.behind[key] = waiting[:n]
		}
	}
}

// Ready reports whether Pop has something to hand out.
func (l *Lanes[T]) Ready() bool { return len(l.ready) > 0 }
