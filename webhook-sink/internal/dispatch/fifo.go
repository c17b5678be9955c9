package dispatch

import "slices"

// fifo is a queue that uses its array again: cutting the front off a slice and
// appending at its end allocates for every item when few wait, as they usually
// do. The zero value is ready.
type fifo[T any] struct {
	items []T
	head  int // what is before it was taken out
}

func (f *fifo[T]) len() int { return len(f.items) - f.head }

func (f *fifo[T]) push(item T) {
	// Moving what waits only once as much was taken out costs at most one move per
	// item.
	if len(f.items) == cap(f.items) && f.head > len(f.items)/2 {
		f.trim()
	}
	f.items = append(f.items, item)
}

// pop takes out the first item, of which there must be one.
func (f *fifo[T]) pop() T {
	item := f.items[f.head]
	var none T
	f.items[f.head] = none // or the array would keep it alive
	f.head++
	if f.head == len(f.items) {
		f.items, f.head = f.items[:0], 0
	}
	return item
}

// remove takes out all items that drop chooses.
func (f *fifo[T]) remove(drop func(T) bool) {
	f.trim()
	f.items = slices.DeleteFunc(f.items, drop)
}

// trim moves what waits to the front of the array.
func (f *fifo[T]) trim() {
	f.items = slices.Delete(f.items, 0, f.head)
	f.head = 0
}
