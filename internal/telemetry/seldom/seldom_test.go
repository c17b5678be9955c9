package seldom

import (
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

func TestLinesOfOneKindAreSeldom(t *testing.T) {
	var log Log
	timeout := Kind{"crm", schemas.ReasonTimeout}
	began := time.Now()
	steps := []struct {
		kind   Kind
		at     time.Duration
		passed int
		logged bool
	}{
		{timeout, 0, 0, true},
		{timeout, time.Second, 0, false},
		{Kind{"crm", schemas.ReasonNetwork}, time.Second, 0, true},
		{Kind{"erp", schemas.ReasonTimeout}, time.Second, 0, true},
		{timeout, Every - 1, 0, false},
		{timeout, Every, 2, true},
		{timeout, Every + 1, 0, false},
		{timeout, 3 * Every, 1, true},
		{timeout, 5 * Every, 0, true},
	}
	for i, step := range steps {
		passed, logged := log.Admit(step.kind, began.Add(step.at))
		if passed != step.passed || logged != step.logged {
			t.Errorf("step %d: passed %d, logged %t, want %d, %t", i, passed, logged, step.passed, step.logged)
		}
	}
}
