package main

import (
	"errors"
	"fmt"

	"github.com/anabranch/anabranch/test/storm/books"
)

// result is what a step has shown.
type result struct {
	tally  books.Tally
	unsent int // calls that were never answered 200
	again  int // calls that clients sent again, not knowing whether they were stored
	// unasked counts deliveries beyond those that clients have asked for: a call
	// that was sent twice may arrive twice.
	unasked int
	broken  []string // deliveries whose signature did not hold
	err     error    // of what the step did
}

func (r *result) String() string {
	return fmt.Sprintf("acknowledged %d (sent again %d), lost %d, doubled %d (not by clients %d), out of order %d",
		r.tally.Sent, r.again, r.tally.Lost, r.tally.Doubled, r.unasked, r.tally.Inverted)
}

// faults lists what did not hold. repeats: an event may have been delivered twice
// for another reason than that its client sent it twice.
func (r *result) faults(repeats bool) []error {
	var all []error
	if r.err != nil {
		all = append(all, r.err)
	}
	if r.tally.Sent == 0 {
		all = append(all, errors.New("no call was acknowledged: the step shows nothing"))
	}
	if r.unsent > 0 {
		all = append(all, fmt.Errorf("%d calls were refused to the end", r.unsent))
	}
	if r.tally.Lost > 0 {
		all = append(all, fmt.Errorf("%d acknowledged calls did not arrive", r.tally.Lost))
	}
	if len(r.broken) > 0 {
		all = append(all, fmt.Errorf("%d signatures do not hold, the first of %s", len(r.broken), r.broken[0]))
	}
	if !repeats && r.unasked > 0 {
		all = append(all, fmt.Errorf("%d calls were delivered twice though no sink was killed", r.unasked))
	}
	if r.tally.Inverted > 0 {
		all = append(all, fmt.Errorf("%d calls arrived behind younger ones of their user", r.tally.Inverted))
	}
	return all
}
