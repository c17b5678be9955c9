package store

import "sync"

// usage counts who is at work in a store, so that it is closed under nobody's hands. A lock would not do: who scans reads
// meanwhile, and would wait for who closes, who waits for the scan.
type usage struct {
	closing chan struct{} // closed by end

	mu     sync.Mutex
	active int
	idle   sync.Cond
}

func newUsage() *usage {
	u := &usage{closing: make(chan struct{})}
	u.idle.L = &u.mu
	return u
}

// enter begins a use, which leave ends, or returns ErrClosed.
func (u *usage) enter() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.open(); err != nil {
		return err
	}
	u.active++
	return nil
}

func (u *usage) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.active--
	if u.active == 0 {
		u.idle.Broadcast()
	}
}

// open returns ErrClosed once the store is closed or about to be.
func (u *usage) open() error {
	select {
	case <-u.closing:
		return ErrClosed
	default:
		return nil
	}
}

// end lets nobody in any more and waits until all have left.
func (u *usage) end() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.open(); err != nil {
		return err
	}
	close(u.closing)
	for u.active > 0 {
		u.idle.Wait()
	}
	return nil
}
