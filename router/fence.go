package router

import (
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

// fenced reports whether err says that somebody else took over this router's
// transactional id or its place in the group.
func fenced(err error) bool {
	for _, cause := range []error{kerr.ProducerFenced, kerr.InvalidProducerEpoch, kerr.FencedInstanceID} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// fence tells a router that lost its id once from two routers that take it
// from each other in turn. The former happens after a long pause of the
// process: the broker aborted its transaction and a new session is the cure.
// The latter is a mistake in the configuration that no new session cures.
type fence struct{ hits []time.Time }

const (
	fenceHits   = 3
	fenceWithin = time.Minute
)

// hit notes err and reports whether it is the third fencing within a minute.
func (f *fence) hit(err error, now time.Time) bool {
	if !fenced(err) {
		return false
	}
	f.hits = slices.DeleteFunc(f.hits, func(t time.Time) bool { return now.Sub(t) >= fenceWithin })
	f.hits = append(f.hits, now)
	return len(f.hits) >= fenceHits
}
