package testkit

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

func TestUntilReturnsOnceTheConditionHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, looks := time.Now(), 0
		Until(t, func() bool { looks++; return looks == 3 }, "the third look")
		if took := time.Since(start); took != 2*pause {
			t.Errorf("three looks took %v, want two pauses of %v", took, pause)
		}
	})
}

func TestUntilGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := verdictOf(t, func(tb *spy) {
			Until(tb, func() bool { return false }, "rain")
		})
		if want := fmt.Sprintf("fatal: waited %v for rain", patience); got != want {
			t.Errorf("verdict %q, want %q", got, want)
		}
		if took := time.Since(start); took != patience {
			t.Errorf("it gave up after %v, want %v", took, patience)
		}
	})
}
