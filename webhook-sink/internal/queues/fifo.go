package queues

import "slices"

// FIFO is a list of what waits that uses its array again: cutting the front off a slice and
// appending at its end allocates for every item when few wait, as they usually
// do. The zero value is ready.
type FIFO[T any] struct {
	items []T
	head  int // what is before it was taken out
}

// Len is how many items wait.
func (f *FIFO[T]) Len() int { return len(f.items) - f.head }

// Push adds an item behind all others.
func (f *FIFO[T]) Push(item T) {
	// Moving what waits only once as much was taken out costs at most one move per
	// item.
	if len(f.items) == cap(f.items) && f.head > len(f.items)/2 {
		f.trim()
	}
	f.items = append(f.items, item)
}

// Pop takes out the first item, of which there must be one.
func (f *FIFO[T]) Pop() T {
	item := f.items[f.head]
	var none T
	f.items[f.head] = none // or the array would keep it alive
	f.head++
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
	return item
}

// Remove takes out all items that drop chooses.
func (f *FIFO[T]) Remove(drop func(T) bool) {
	f.trim()
	f.items = slices.DeleteFunc(f.items, drop)
}

// trim moves what waits to the front of the array.
func (f *FIFO[T]) trim() {
	f.items = slices.Delete(f.items, 0, f.head)
	f.head = 0
}
