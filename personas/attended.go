package personas

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/personas/internal/store"
)

// attended is a store that says when it has failed. Once it has, it does so for ever: the
// stage ends, and the next one restores what is missing.
type attended struct {
	store.Store // nil: it is not open yet

	opened atomic.Bool
	failed chan error
	broken prometheus.Gauge // set to 1 then
}

func attend() *attended { return &attended{failed: make(chan error, 1)} }

// open opens the store, unless there is one.
func (a *attended) open(do func() (store.Store, error)) (err error) {
	if a.Store == nil {
		if a.Store, err = do(); err != nil {
			return err
		}
	}
	a.opened.Store(true)
	return nil
}

// Stats implements [store.Store]. It may be called before the store is open.
func (a *attended) Stats() store.Stats {
	if !a.opened.Load() {
		return store.Stats{}
	}
	return a.Store.Stats()
}

func (a *attended) note(err error) error {
	if err != nil && !errors.Is(err, store.ErrClosed) {
		a.broken.Set(1)
		select {
		case a.failed <- err:
		default: // it is known
		}
	}
	return err
}

// Get implements [store.Store].
func (a *attended) Get(partition int32, user []byte) (record []byte, ok bool, err error) {
	record, ok, err = a.Store.Get(partition, user)
	return record, ok, a.note(err)
}

// Apply implements [store.Store].
func (a *attended) Apply(b *store.Batch) error { return a.note(a.Store.Apply(b)) }

// Due implements [store.Store].
func (a *attended) Due(partition int32, after store.Timer, until time.Time, limit int) ([]store.Timer, error) {
	timers, err := a.Store.Due(partition, after, until, limit)
	return timers, a.note(err)
}

// Scan implements [store.Store].
func (a *attended) Scan(partition int32, from []byte, visit func(user, record []byte) bool) error {
	return a.note(a.Store.Scan(partition, from, visit))
}

// Checkpoint implements [store.Store].
func (a *attended) Checkpoint(partition int32) (checkpoint []byte, ok bool, err error) {
	checkpoint, ok, err = a.Store.Checkpoint(partition)
	return checkpoint, ok, a.note(err)
}

// Wipe implements [store.Store].
func (a *attended) Wipe(partition int32) error { return a.note(a.Store.Wipe(partition)) }
