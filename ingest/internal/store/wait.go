package store

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// wait is the acknowledgement of one request. Its promise is called by one
// goroutine of the client, for one record at a time.
type wait struct {
	store          *Store
	records, bytes int // the room that the request has taken
	left           int // records without an outcome
	done           chan struct{}
	err            error // the first; read it once done is closed
}

// promise takes in the outcome of one record. The request's is known at the
// first error or the last acknowledgement; its room is held until the client has
// let go of all its records.
func (w *wait) promise(_ *kgo.Record, err error) {
	if isGone(err) {
		w.store.gone.Store(true) // whether or not anybody still waits for the record
	}
	w.left--
	if w.left == 0 {
		w.store.room.give(w.records, w.bytes)
	}
	if w.err == nil && (err != nil || w.left == 0) {
		w.err = err
		close(w.done)
	}
}

// isGone tells whether the brokers do not have a topic as the client knows it.
func isGone(err error) bool {
	return errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition)
}

// until waits for the acknowledgement, and for no longer than limit or until
// the brokers are gone.
func (w *wait) until(limit time.Duration, gone <-chan struct{}) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	select {
	case <-w.done:
		return w.err
	case <-gone:
		return errNoBrokers
	case <-deadline.C:
		return errDeadline
	}
}
