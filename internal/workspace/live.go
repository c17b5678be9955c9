package workspace

import "sync/atomic"

// Live holds the snapshot in force. Load and Store may be called from any
// goroutine at any time.
type Live struct {
	current atomic.Pointer[edition]
}

// edition is a snapshot together with the signal that it was replaced. They
// live behind one pointer so that nobody sees the one without the other.
type edition struct {
	snapshot *Snapshot
	replaced chan struct{}
}

// NewLive returns a Live that holds s, which must not be nil.
func NewLive(s *Snapshot) *Live {
	l := new(Live)
	l.current.Store(&edition{snapshot: s, replaced: make(chan struct{})})
	return l
}

// Load returns the snapshot in force, never nil.
func (l *Live) Load() *Snapshot {
	return l.current.Load().snapshot
}

// Store puts s, which must not be nil, in force and wakes all who wait for
// [Live.Changed].
func (l *Live) Store(s *Snapshot) {
	// Each edition is swapped out once, so concurrent calls close each signal
	// once.
	old := l.current.Swap(&edition{snapshot: s, replaced: make(chan struct{})})
	close(old.replaced)
}

// Changed returns a channel that is closed by the next Store. Take it before
// Load: taken after, a Store between the two would go unnoticed until the one
// after it.
func (l *Live) Changed() <-chan struct{} {
	return l.current.Load().replaced
}
