package waiting

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestPausesDoubleUpToTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, left := time.Now(), 7
		var pauses []time.Duration
		ok := Until(t.Context(), func() error {
			if left--; left == 0 {
				return nil
			}
			return errors.New("not yet")
		}, func(_ error, pause time.Duration) { pauses = append(pauses, pause) })
		const ms = time.Millisecond
		want := []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 5000 * ms}
		if !ok || !slices.Equal(pauses, want) || time.Since(began) != 12750*ms {
			t.Errorf("%t after %v and %s, want true after %v", ok, pauses, time.Since(began), want)
		}
	})
}

func TestAnEndThatComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		ok := Until(ctx, func() error { return errors.New("never") }, func(error, time.Duration) {})
		if ok || time.Since(began) != 3*time.Second {
			t.Errorf("%t after %s, want false after three seconds", ok, time.Since(began))
		}
		if Sleep(ctx, time.Hour) || time.Since(began) != 3*time.Second {
			t.Error("sleeps although its context is done")
		}
	})
}
