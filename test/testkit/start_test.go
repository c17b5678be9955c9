package testkit

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestStart(t *testing.T) {
	t.Parallel()
	stopped := 0
	stop := Start(t, func(ctx context.Context) error { <-ctx.Done(); stopped++; return nil })
	stop()
	stop()
	if stopped != 1 {
		t.Errorf("stopped %d times", stopped)
	}
	got := verdictOf(t, func(tb *spy) {
		Start(tb, func(ctx context.Context) error { <-ctx.Done(); return errors.New("broken") })()
	})
	if !strings.Contains(got, "broken") {
		t.Errorf("a service that fails: %q", got)
	}
}
