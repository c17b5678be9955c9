// Package sources holds events back whose source the workspace does not have yet.
package sources

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/workspace"
)

// rest is how long after a wait in vain nothing is waited for: a source may be gone for
// good, and whoever writes to raw-events may name thousands.
const rest = time.Minute

// sourceHeader is the key of schemas.Headers.Source.
const sourceHeader = "source"

// Sources tells events of sources that a workspace has from those that prove it to be
// stale, or the source to be gone. It belongs to the loop: one goroutine uses it.
type Sources struct {
	of     *workspace.Snapshot
	known  map[string]bool // those that were looked up in it
	vainly time.Time       // when a wait ended in vain
}

// Await holds events until the workspace has all of their sources, or for as long as
// wait. False: ctx has ended meanwhile.
func (s *Sources) Await(ctx context.Context, live *workspace.Live, fetches kgo.Fetches, wait time.Duration) bool {
	var late <-chan time.Time
	for {
		changed := live.Changed()
		if s.has(live.Load(), fetches) {
			return true
		}
		if late == nil {
			if !s.vainly.IsZero() && time.Since(s.vainly) < rest {
				return true
			}
			late = time.After(wait)
		}
		select {
		case <-changed:
		case <-late:
			s.vainly = time.Now()
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// has reports whether a workspace has the sources of all events.
func (s *Sources) has(ws *workspace.Snapshot, fetches kgo.Fetches) bool {
	if s.of != ws {
		s.of, s.known = ws, make(map[string]bool)
	}
	all := true
	fetches.EachRecord(func(rec *kgo.Record) { all = all && s.hasSource(rec) })
	return all
}

// hasSource looks at the one header alone. Whatever else is wrong with a record is for
// decide to find.
func (s *Sources) hasSource(rec *kgo.Record) bool {
	for i := range rec.Headers {
		if rec.Headers[i].Key != sourceHeader {
			continue
		}
		if s.known[string(rec.Headers[i].Value)] { // which allocates nothing
			return true
		}
		id := string(rec.Headers[i].Value)
		if _, ok := s.of.Source(id); ok || id == "" {
			s.known[id] = true
			return true
		}
		return false
	}
	return true
}
