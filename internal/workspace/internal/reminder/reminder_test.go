package reminder

import (
	"testing"
	"time"
)

func TestReminder(t *testing.T) {
	t.Parallel()
	var r Reminder
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
		if got := r.Due(step.text, start.Add(step.after)); got != step.want {
			t.Errorf("%s after %v: %v", step.text, step.after, got)
		}
	}
}
