package logging

import (
	"strconv"
	"testing"
	"time"

	"github.com/anabranch/anabranch/schemas"
)

func TestLinesOfOneKindAreSeldom(t *testing.T) {
	var log Sampler[Kind]
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

// TestReminder: another trouble is told at once, and one that lasts now and then.
func TestReminder(t *testing.T) {
	t.Parallel()
	var r Sampler[string]
	start := time.Now()
	for _, step := range []struct {
		text  string
		after time.Duration
		want  bool
	}{
		{"a", 0, true},
		{"a", time.Second, false},
		{"b", 2 * time.Second, true},
		{"b", 11 * time.Second, false},
		{"b", 12 * time.Second, true},
		{"b", 13 * time.Second, false},
		{"a", 14 * time.Second, true},
	} {
		if _, got := r.Admit(step.text, start.Add(step.after)); got != step.want {
			t.Errorf("%s after %v: %v", step.text, step.after, got)
		}
	}
}

func TestRefusalsForgetWhatIsOld(t *testing.T) {
	t.Parallel()
	var s Sampler[string]
	now := time.Now()
	for i := range 1000 {
		s.Admit(strconv.Itoa(i), now)
	}
	s.Admit("1", now.Add(Every-1)) // passed over, and to be told
	if s.Admit("another", now.Add(Every)); len(s.kinds) != 2 {
		t.Errorf("%d kinds are remembered, want the last and the one that was passed over", len(s.kinds))
	}
	if s.Admit("another", now.Add(11*Every)); len(s.kinds) != 1 {
		t.Errorf("%d kinds are remembered, want the last alone", len(s.kinds))
	}
}

func TestSeveralLinesAnInterval(t *testing.T) {
	t.Parallel()
	s := Sampler[string]{Every: time.Second, Lines: 2}
	now := time.Now()
	for i, want := range []bool{true, true, false, false} {
		if _, ok := s.Admit("", now); ok != want {
			t.Errorf("line %d: %v", i, ok)
		}
	}
	if passed, ok := s.Admit("", now.Add(time.Second)); !ok || passed != 2 {
		t.Errorf("a second later: %v, %d passed", ok, passed)
	}
	s.Admit("", now.Add(time.Second))
	s.Forget()
	if passed, ok := s.Admit("", now.Add(time.Second)); !ok || passed != 0 {
		t.Errorf("forgotten: %v, %d passed", ok, passed)
	}
}

// TestOnce is for the life of a process, however long that is.
func TestOnce(t *testing.T) {
	t.Parallel()
	s := Sampler[string]{Every: Once}
	now := time.Now()
	for after, want := range []bool{true, false, false} {
		if _, ok := s.Admit("", now.AddDate(100*after, 0, 0)); ok != want {
			t.Errorf("after %d centuries: %v", after, ok)
		}
	}
}
