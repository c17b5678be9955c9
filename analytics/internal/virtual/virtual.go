// Package virtual is for tests that run in the bubble of a testing/synctest.
package virtual

import "time"

// epoch is where the clock of each bubble begins.
var epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Sleep lets d of virtual time pass. It panics outside of a bubble, where the test
// would wait for as long, and depend on how fast the machine is.
func Sleep(d time.Duration) {
	if time.Since(epoch) > 20*365*24*time.Hour {
		panic("virtual.Sleep outside of a bubble of testing/synctest: wait on a condition instead")
	}
	time.Sleep(d) //nolint:forbidigo // the time is virtual
}
