package ingest

// slots bound how many bodies are decoded at the same time. Decoding takes a few
// milliseconds at most but may need thirty times the body's size in memory, and a
// goroutine that was preempted in it holds on to that.
//
// Large bodies have slots of their own, for half of the processors: the scheduler
// lets a goroutine run for ten milliseconds, and a small call behind one on each
// processor would wait for as long.
type slots struct{ small, large chan struct{} }

// largeBody is from how many bytes on, decompressed, a body is large. Batches as
// SDKs send them are not.
const largeBody = 64 << 10

func newSlots(processors int) slots {
	return slots{small: make(chan struct{}, 2*processors), large: make(chan struct{}, max(1, processors/2))}
}

// take waits for a slot for a body of so many bytes, and returns what gives it
// back.
func (s slots) take(size int) (release func()) {
	kind := s.small
	if size >= largeBody {
		kind = s.large
	}
	kind <- struct{}{}
	return func() { <-kind }
}
