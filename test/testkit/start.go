package testkit

import (
	"context"
	"sync"
	"testing"
)

// Start runs a service. The result stops it in the orderly way, which happens at the
// end of the test in any case; an error that run returns then fails the test.
func Start(tb testing.TB, run func(context.Context) error) (stop func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(tb.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("Run returned %v after an orderly stop", err)
		}
	})
	tb.Cleanup(stop)
	return stop
}
