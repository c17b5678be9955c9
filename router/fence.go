package router

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// fenced reports whether err says that this router's transactional id or its place
// in the group belongs to somebody else: to a rival, to its own successor, or, when
// the brokers aborted its transaction, to nobody.
func fenced(err error) bool {
	for _, cause := range []error{kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.FencedInstanceID} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// circumstances are what a session ended under.
type circumstances struct {
	// open is how long its transaction had been open; 0: there was none.
	open time.Duration
	// interrupted says that the group's coordinator had been silent for long, or this
	// process had stood still.
	interrupted bool
}

// rival reports whether err shows that another router took over the place or the id
// of this one. Brokers say the same of what they did themselves: they abort a
// transaction that is open for longer than timeout, and a request that they find
// after a silence may be one of ours that we have long sent again.
func rival(err error, c circumstances, timeout time.Duration) bool {
	return fenced(err) && !c.interrupted && c.open < timeout
}
