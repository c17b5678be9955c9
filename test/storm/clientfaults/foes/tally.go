package foes

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Tally is what the clients of one kind came to.
type Tally struct {
	Kind string `json:"kind"`
	// Tries are their connections, Hits those that reached what they aimed at: the
	// server answered as one does that has looked at it, or has let itself be held
	// up until the bound.
	Tries int `json:"tries"`
	Hits  int `json:"hits"`
	// Aim is how many hits a second they are there for, if they are not slow.
	Aim float64 `json:"aim"`
	// Answers counts the answers by status, Refused connections that were not taken.
	Answers map[int]int `json:"answers"`
	Refused int         `json:"refused"`
	// Longest is how long a connection lasted at most, Bound how long the server may
	// let a slow one last, zero for those that are not slow.
	Longest time.Duration `json:"longest"`
	Bound   time.Duration `json:"bound"`
}

func newTally(k *kind) Tally {
	return Tally{Kind: k.name, Aim: float64(k.count) * k.perSecond, Bound: k.bound, Answers: make(map[int]int)}
}

// add counts a connection; over tells that the attack ended before it.
func (t *Tally) add(k *kind, o outcome, over bool) {
	if over && !k.slow() {
		return // it may not have had the time
	}
	t.Tries++
	t.Longest = max(t.Longest, o.lasted)
	if o.refused {
		t.Refused++
	}
	if o.status != 0 {
		t.Answers[o.status]++
	}
	if k.hit(o) {
		t.Hits++
	}
}

// hit reports whether a connection reached what it aimed at.
func (k *kind) hit(o outcome) bool {
	if k.slow() {
		return o.cut && o.lasted > k.bound-time.Second
	}
	return slices.Contains(k.answers, o.status)
}

// slack is what a slow connection may last beyond its bound: the server looks at
// the clock again only when something happens, and so do we, once a second.
const slack = 2 * time.Second

// Judge says what speaks against an attack that lasted for a while, or against
// the server; nil when nothing does.
func (t *Tally) Judge(over time.Duration) []string {
	var all []string
	require := func(holds bool, format string, args ...any) {
		if !holds {
			all = append(all, t.Kind+": "+fmt.Sprintf(format, args...))
		}
	}
	for status, n := range t.Answers {
		require(status < http.StatusOK || status >= http.StatusMultipleChoices, "%d answers with status %d", n, status)
	}
	if t.Bound > 0 {
		require(t.Longest <= t.Bound+slack, "a connection lasted %s instead of at most %s", t.Longest.Round(time.Millisecond), t.Bound)
		// Who came too late for the bound shows nothing.
		require(t.Hits > 0 || over < t.Bound+2*slack, "no connection was held up to the bound of %s", t.Bound)
		return all
	}
	wanted := int(t.Aim * over.Seconds() / 2)
	require(t.Hits >= wanted, "%d hits instead of at least %d; answers %v, refused %d", t.Hits, wanted, t.Answers, t.Refused)
	return all
}
