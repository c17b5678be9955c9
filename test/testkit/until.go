package testkit

import (
	"testing"
	"time"
)

// patience bounds every wait of this package. It is far above what anything
// here takes: on a machine that is busy with other packages' tests, a close
// bound fails tests that have nothing wrong with them.
const patience = 2 * time.Minute

// pause is how long a condition rests between two looks.
const pause = 5 * time.Millisecond

// Until looks at a condition every few milliseconds until it holds and fails the
// test when it does not within two minutes. What names the condition, as in
// "the router to have two partitions". Call it from the test's own goroutine.
func Until(tb testing.TB, cond func() bool, what string) {
	tb.Helper()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			tb.Fatalf("waited %v for %s", patience, what)
		}
	}
}
