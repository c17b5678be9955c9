package config

import (
	"time"

	"github.com/caarlos0/env/v11"

	"github.com/anabranch/anabranch/webhook-sink/internal/breaker"
)

// Default returns what holds where nothing is set.
//
// Two bounds made the retry delays. An event less than half an hour old waits ten minutes
// at most, so that the backlog of an outage that long is back a quarter of an hour after
// its end. And in four hours nobody waits more than twenty times, with a last wait that
// ends, jitter included, inside the window's last half hour.
func Default() Config {
	c, err := env.ParseAsWithOptions[Config](env.Options{Environment: map[string]string{}})
	if err != nil {
		panic(err) // of the tags, which a test reads too
	}
	return c
}

// FirstInFlight is how many attempts a destination may have in flight that has
// delivered nothing yet: as many as it takes to know that it is down.
const FirstInFlight = threshold

// CommitEvery bounds what a kill repeats beside the attempts in flight: what has
// finished since the last commit, 20 deliveries under 1,000 a second. At 50 ms a
// kill repeated 66 in all, more than may be in flight.
const CommitEvery = 20 * time.Millisecond

const (
	// threshold failures in a row and silence without a good answer are hardly
	// chance, and little enough for an endpoint that hangs to cost no more than one
	// round of timeouts.
	threshold  = 5
	silence    = 500 * time.Millisecond
	firstProbe = time.Second
	// longestProbe is how long an endpoint that is back may wait to be noticed.
	longestProbe = time.Minute
)

// Breaker are the settings of each endpoint's breaker. Its pauses follow the retry
// delays where those are shorter than usual.
func Breaker(delays []time.Duration) breaker.Options {
	return breaker.Options{
		Threshold: threshold,
		Silence:   silence,
		First:     min(firstProbe, delays[0]),
		Longest:   min(longestProbe, delays[len(delays)-1]),
	}
}
