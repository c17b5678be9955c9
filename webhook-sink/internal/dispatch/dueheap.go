package dispatch

import (
	"container/heap"
	"time"
)

// dueHeap orders retries by when they are to be looked at.
type dueHeap []*Job

func (h *dueHeap) Len() int      { return len(*h) }
func (h *dueHeap) Swap(i, j int) { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Less orders those of one millisecond as they were written.
func (h *dueHeap) Less(i, j int) bool {
	a, b := (*h)[i], (*h)[j]
	if !a.turn.Equal(b.turn) {
		return a.turn.Before(b.turn)
	}
	return a.Record.Offset < b.Record.Offset
}

// Push implements [heap.Interface].
func (h *dueHeap) Push(x any) { *h = append(*h, x.(*Job)) }

// Pop implements [heap.Interface].
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return j
}

func (h *dueHeap) add(j *Job) { heap.Push(h, j) }

// due takes out the first job when its turn has come, else returns nil.
func (h *dueHeap) due(now time.Time) *Job {
	if len(*h) == 0 || (*h)[0].turn.After(now) {
		return nil
	}
	j := (*h)[0]
	heap.Pop(h)
	return j
}
