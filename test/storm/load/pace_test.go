package load

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceKeepsItsRate(t *testing.T) {
	for _, rate := range []int{3, 1000, 1700} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			emitted := 0
			n := Pace(ctx, rate, func() { emitted++ })
			if n != emitted || n < 10*rate-2 || n > 10*rate {
				t.Errorf("rate %d: %d events, %d emitted, in ten seconds", rate, n, emitted)
			}
		})
	}
}

func TestPaceMakesUpForAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		paused := false
		n := Pace(ctx, 100, func() {
			if !paused {
				paused = true
				<-time.After(5 * time.Second)
			}
		})
		if n < 998 {
			t.Errorf("%d events in ten seconds, of which it slept five, expected all 1000", n)
		}
	})
}
