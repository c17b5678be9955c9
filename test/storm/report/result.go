package report

import (
	"fmt"

	"github.com/anabranch/anabranch/test/storm/books"
)

// Result is what one row came to.
type Result struct {
	Row    string
	Faults Faults
	books.Tally
	// The latencies of those whom the faults are not to touch, before, during and
	// after them. A row that claims nothing about them leaves them zero.
	Before, During, After books.Phase
	// Notes are figures of this row alone.
	Notes []string
	// Table is what a row compares with itself; nil for most.
	Table *Table
	// Broken are the bounds that did not hold; a row has failed when there is one.
	Broken []string
}

// Faults are what was done to the product.
type Faults struct {
	What     string // in the plural: kills, restarts
	Claimed  int    // as many as the row promises
	Injected int    // as many as happened
}

// Bounds are what a row promises. Nothing may be lost, whatever the row.
type Bounds struct {
	MinSent     int     // a load that hardly ran proves nothing
	MaxDead     int     // events in dead-letters
	MaxDoubled  int     // acceptances beyond the first
	DoubledRate float64 // of the events sent; zero: no such bound
	MaxInverted int     // -1: no such bound
	MaxSlowdown float64 // of the 99th percentile; zero: no such bound
}

// Judge holds the result against its bounds.
func (r *Result) Judge(b Bounds) {
	r.Require(r.Faults.Injected >= r.Faults.Claimed, "%d %s instead of %d", r.Faults.Injected, r.Faults.What, r.Faults.Claimed)
	r.Require(r.Sent >= b.MinSent, "%d events sent instead of at least %d", r.Sent, b.MinSent)
	r.Require(r.Lost == 0, "%d events lost", r.Lost)
	r.Require(r.Dead <= b.MaxDead, "%d events in dead-letters instead of at most %d", r.Dead, b.MaxDead)
	r.Require(r.Doubled <= b.MaxDoubled, "%d events doubled instead of at most %d", r.Doubled, b.MaxDoubled)
	if b.DoubledRate > 0 {
		r.Require(float64(r.Doubled) < b.DoubledRate*float64(r.Sent), "%d of %d events doubled, not below %g %%", r.Doubled, r.Sent, 100*b.DoubledRate)
	}
	r.Require(b.MaxInverted < 0 || r.Inverted <= b.MaxInverted, "%d events of a key overtook another instead of at most %d", r.Inverted, b.MaxInverted)
	if b.MaxSlowdown > 0 {
		slowdown, ok := r.Slowdown()
		r.Require(ok && slowdown <= b.MaxSlowdown, "p99 %.2f times the undisturbed one instead of at most %g", slowdown, b.MaxSlowdown)
	}
}

// Require adds a broken bound unless it holds.
func (r *Result) Require(holds bool, format string, args ...any) {
	if !holds {
		r.Broken = append(r.Broken, fmt.Sprintf(format, args...))
	}
}

// Note adds a figure.
func (r *Result) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Slowdown is the 99th percentile during the faults, in terms of that of the time
// around them. False means that there was nothing to compare with.
func (r *Result) Slowdown() (float64, bool) {
	undisturbed := books.Median([]books.Phase{r.Before, r.After})
	if r.During.Count == 0 || r.Before.Count == 0 || r.After.Count == 0 || undisturbed.P99 <= 0 {
		return 0, false
	}
	return float64(r.During.P99) / float64(undisturbed.P99), true
}
