//go:build go1.26

package virtual_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anabranch/anabranch/analytics/internal/virtual"
)

func TestSleepTakesVirtualTimeAlone(t *testing.T) {
	t.Parallel()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		virtual.Sleep(time.Hour)
		if passed := time.Since(start); passed != time.Hour {
			t.Errorf("%s passed, expected an hour", passed)
		}
	})
	if took := time.Since(began); took >= time.Hour {
		t.Errorf("it took %s", took)
	}
}

func TestSleepOutsideOfABubblePanics(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	virtual.Sleep(time.Nanosecond)
}
