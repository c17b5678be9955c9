package command

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/test/virtual"
)

// TestWhileHeard: what is heard of now and then may take for ever, and ends soon when
// it is silent.
func TestWhileHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, heard := whileHeard(t.Context(), 10*time.Second)
		defer heard.stop()
		for range 60 {
			virtual.Sleep(9 * time.Second)
			heard.again()
		}
		if ctx.Err() != nil {
			t.Fatalf("ended after %s: %v", time.Since(began), context.Cause(ctx))
		}
		<-ctx.Done()
		if cause := context.Cause(ctx); time.Since(began) != 550*time.Second || !errors.Is(cause, context.DeadlineExceeded) || cause.Error() != "no progress for 10s: context deadline exceeded" {
			t.Errorf("ended after %s: %v", time.Since(began), cause)
		}
		for err, want := range map[error]string{
			nil:                "",
			context.Canceled:   "no progress for 10s: context deadline exceeded: context canceled",
			context.Cause(ctx): "no progress for 10s: context deadline exceeded",
		} {
			if got := heard.explain(ctx, err); (got == nil) != (err == nil) || got != nil && got.Error() != want {
				t.Errorf("%v is explained as %v", err, got)
			}
		}
	})
}
