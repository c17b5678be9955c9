package fence

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
)

func TestRival(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second
	for name, c := range map[string]struct {
		err   error
		open  time.Duration
		quiet bool
		want  bool
	}{
		"an id taken over between transactions":        {kerr.ProducerFenced, 0, false, true},
		"within one":                                   {fmt.Errorf("end transaction: %w", kerr.ProducerFenced), time.Second, false, true},
		"an epoch from another's start":                {kerr.InvalidProducerEpoch, time.Second, false, true},
		"the place in the group":                       {kerr.FencedInstanceID, 0, false, true},
		"the brokers aborted it: an older epoch":       {kerr.InvalidProducerEpoch, timeout, false, false},
		"the same, as coordinators say it":             {kerr.ProducerFenced, timeout + time.Second, false, false},
		"its own request, found behind a silence":      {kerr.ProducerFenced, 0, true, false},
		"its own join, found behind a silence":         {kerr.FencedInstanceID, 0, true, false},
		"no transaction to end is no rival's doing":    {kerr.InvalidTxnState, time.Second, false, false},
		"a broker that is gone is no rival":            {errors.New("connection refused"), 0, false, false},
		"nor is a session that ended without an error": {nil, 0, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Rival(c.err, c.open, timeout, c.quiet); got != c.want {
				t.Errorf("rival = %t, want %t", got, c.want)
			}
		})
	}
}

// TestPulse: answers that come every second are a rhythm; a gap in it is what a
// broker that stood still leaves, or this process.
func TestPulse(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		beats []time.Duration
		at    time.Duration
		want  bool
	}{
		"before the first answer":          {nil, time.Second, false},
		"no answer at all":                 {nil, silence, true},
		"in rhythm":                        {[]time.Duration{1e9, 2e9, 3e9, 4e9, 5e9}, 6 * time.Second, false},
		"silent now":                       {[]time.Duration{1e9, 2e9}, 2*time.Second + silence, true},
		"just back":                        {[]time.Duration{1e9, 13e9}, 13 * time.Second, true},
		"back, and old requests are found": {[]time.Duration{1e9, 13e9, 14e9, 15e9}, 16 * time.Second, true},
		"back for long":                    {[]time.Duration{1e9, 13e9, 16e9, 19e9, 21e9}, 13*time.Second + aftermath, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := NewPulse(start)
			for _, at := range c.beats {
				p.beat(start.Add(at))
			}
			if got := p.Interrupted(start.Add(c.at)); got != c.want {
				t.Errorf("interrupted = %t, want %t", got, c.want)
			}
		})
	}
}
