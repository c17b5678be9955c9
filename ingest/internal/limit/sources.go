package limit

import (
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/anabranch/anabranch/schemas"
)

// Sources bounds the events per second of each source, one by one. It is safe
// for concurrent use. A nil *Sources has no bound.
//
// It remembers each source that it was ever asked about. Only ask about sources
// of the workspace, of which there are few.
type Sources struct {
	perSecond rate.Limit
	burst     int

	mu      sync.RWMutex
	buckets map[string]*rate.Limiter
}

// NewSources returns a bound of perSecond events, or nil, which is none, when
// that is not above zero. At once a source may send what it may in a second, or
// one batch of the largest size if that is more: a batch is taken whole or not
// at all, so one that is larger than its bucket would never pass.
func NewSources(perSecond float64) *Sources {
	if !(perSecond > 0) {
		return nil
	}
	return &Sources{
		perSecond: rate.Limit(perSecond),
		burst:     max(schemas.MaxBatchEvents, int(min(perSecond, maxBurst))),
		buckets:   make(map[string]*rate.Limiter),
	}
}

// maxBurst keeps the conversion of a rate to a whole number exact.
const maxBurst = 1 << 30

// Take asks for n events of a source, at most [schemas.MaxBatchEvents]. When the
// source has sent too many it takes nothing and returns how long it lasts until
// the n would pass, were there no others.
func (s *Sources) Take(source string, n int, now time.Time) (retryAfter time.Duration, ok bool) {
	if s == nil {
		return 0, true
	}
	return take(s.bucket(source), n, now)
}

func (s *Sources) bucket(source string) *rate.Limiter {
	s.mu.RLock()
	b := s.buckets[source]
	s.mu.RUnlock()
	if b != nil {
		return b
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b = s.buckets[source]; b == nil {
		b = rate.NewLimiter(s.perSecond, s.burst)
		s.buckets[source] = b
	}
	return b
}

// take takes n tokens or none, and says when there will be n.
func take(b *rate.Limiter, n int, now time.Time) (retryAfter time.Duration, ok bool) {
	if b.AllowN(now, n) {
		return 0, true
	}
	return until(b, n, now), false
}

// until is how long it lasts until there will be n tokens.
func until(b *rate.Limiter, n int, now time.Time) time.Duration {
	missing := float64(n) - b.TokensAt(now)
	return time.Duration(missing / float64(b.Limit()) * float64(time.Second))
}

// Seconds is a wait as the header Retry-After says it: whole seconds, rounded
// up, and at least one, since zero would be an invitation.
func Seconds(wait time.Duration) int {
	return max(1, int((wait+time.Second-1)/time.Second))
}
