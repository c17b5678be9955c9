package router

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestFence(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fencing := fmt.Errorf("end transaction: %w", kerr.ProducerFenced)
	for name, c := range map[string]struct {
		at   []time.Duration
		err  error
		want bool
	}{
		"once, after a long pause of the process": {[]time.Duration{0}, fencing, false},
		"now and then":                               {[]time.Duration{0, 40 * time.Second, 80 * time.Second, 120 * time.Second}, fencing, false},
		"two routers that take the id in turn":       {[]time.Duration{0, time.Second, 2 * time.Second}, fencing, true},
		"the static member likewise":                 {[]time.Duration{0, time.Second, 2 * time.Second}, kerr.FencedInstanceID, true},
		"other errors, as often as they like":        {[]time.Duration{0, 1, 2, 3, 4, 5}, errors.New("connection refused"), false},
		"the third within a minute of the first two": {[]time.Duration{0, 30 * time.Second, 59 * time.Second}, fencing, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f fence
			var got bool
			for _, at := range c.at {
				got = f.hit(c.err, start.Add(at))
			}
			if got != c.want {
				t.Errorf("gives up = %v, want %v", got, c.want)
			}
		})
	}
}
