package testkit

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// CPU is the time that the process has had of its processors so far. Where others use them
// too it says more than the time that has passed.
func CPU(tb testing.TB) time.Duration {
	tb.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// Resident gives free memory back to the system, and returns what tells how much the
// process has had at most since then, in MiB: its resident set. Elsewhere than on Linux
// nobody knows, and that is zero.
func Resident(tb testing.TB) (peak func() float64) {
	tb.Helper()
	debug.FreeOSMemory()
	const forget = "5" // the peak so far, see proc_pid_clear_refs(5)
	if err := os.WriteFile("/proc/self/clear_refs", []byte(forget), 0); err != nil {
		return func() float64 { return 0 }
	}
	return func() float64 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			tb.Fatal(err)
		}
		_, line, _ := bytes.Cut(status, []byte("VmHWM:"))
		var kib int
		if _, err = fmt.Sscan(string(line), &kib); err != nil {
			tb.Fatal(err)
		}
		return float64(kib) / (1 << 10)
	}
}
