package clientfaults

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/anabranch/anabranch/test/storm/books"
	"github.com/anabranch/anabranch/test/storm/load"
)

// answers are those that a row's calls got.
type answers struct {
	mu  sync.Mutex
	all []load.Answer
}

func (a *answers) add(one load.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, one)
}

// within returns the answers to the calls of a span.
func (a *answers) within(s books.Span) []load.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	var some []load.Answer
	for _, one := range a.all {
		if s.Holds(one.At) {
			some = append(some, one)
		}
	}
	return some
}

// statuses counts the answers by their status; zero is none.
func (a *answers) statuses() map[int]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	counts := make(map[int]int)
	for _, one := range a.all {
		counts[one.Status]++
	}
	return counts
}

// phase sums up how long the calls of a span took. One without an answer counts
// as if it had taken the whole patience of a client.
func (a *answers) phase(s books.Span) books.Phase {
	const patience = 15 * time.Second
	some := a.within(s)
	took := make([]time.Duration, len(some))
	for i, one := range some {
		if took[i] = one.Took; one.Status == 0 {
			took[i] = patience
		}
	}
	return books.Summarize(took)
}

// median sums up spans of the same kind.
func (a *answers) median(all []books.Span) books.Phase {
	phases := make([]books.Phase, len(all))
	for i, s := range all {
		phases[i] = a.phase(s)
	}
	return books.Median(phases)
}

// outage is how calls were answered while the brokers were away.
type outage struct {
	firstRefusal time.Duration // from the begin of the outage to the first 503; negative: there was none
	slowest      time.Duration // of the calls made while it was known
	odd          int           // answers that are neither 200 nor a 503 that says when to come back
	recovered    time.Duration // from its end to the first 200 after it; negative: there was none
}

// known is how soon after its begin an outage has to be known.
const known = 2 * time.Second

// judgeOutage looks at the answers to calls made during and after an outage.
func judgeOutage(all []load.Answer, away books.Span) outage {
	o := outage{firstRefusal: -1, recovered: -1}
	for _, one := range all {
		answered := one.At.Add(one.Took)
		switch {
		case one.Status == http.StatusServiceUnavailable && validPause(one.RetryAfter):
			if since := answered.Sub(away.From); since >= 0 && (o.firstRefusal < 0 || since < o.firstRefusal) {
				o.firstRefusal = since
			}
		case one.Status == http.StatusOK:
			if since := answered.Sub(away.To); since >= 0 && (o.recovered < 0 || since < o.recovered) {
				o.recovered = since
			}
		default:
			o.odd++
		}
		if one.At.Sub(away.From) >= known && one.At.Before(away.To) {
			o.slowest = max(o.slowest, one.Took)
		}
	}
	return o
}

// validPause reports whether a Retry-After is a number of whole seconds.
func validPause(header string) bool {
	n, err := strconv.Atoi(header)
	return err == nil && n >= 1
}
