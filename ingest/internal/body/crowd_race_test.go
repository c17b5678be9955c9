//go:build race

package body

import "testing"

// notUnderRace skips tests with hundreds of senders: the race detector of Go 1.26.8
// fails in them, in a check of its own (tsan_rtl.cpp:346), in one of two runs.
func notUnderRace(t *testing.T) {
	t.Helper()
	t.Skip("the race detector fails with so many goroutines in a bubble")
}
