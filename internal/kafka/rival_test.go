package kafka

import (
	"testing"
	"time"
)

func TestRival(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		at   []time.Duration
		want bool
	}{
		"once":                               {[]time.Duration{0}, false},
		"twice":                              {[]time.Duration{0, time.Second}, false},
		"two processes that take it in turn": {[]time.Duration{0, time.Second, 2 * time.Second}, true},
		"now and then":                       {[]time.Duration{0, 40 * time.Second, 80 * time.Second, 120 * time.Second}, false},
		"the third just within the minute":   {[]time.Duration{0, 30 * time.Second, time.Minute - 1}, true},
		"the third a minute after the first": {[]time.Duration{0, 30 * time.Second, time.Minute}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r Rival
			var got bool
			for _, at := range c.at {
				got = r.Met(start.Add(at))
			}
			if got != c.want {
				t.Errorf("Met = %t, want %t", got, c.want)
			}
		})
	}
}
