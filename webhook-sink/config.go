package webhooksink

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Config is what an operator may set.
type Config struct {
	AllowNetworks    []netip.Prefix  `env:"WEBHOOK_SINK_ALLOW_NETWORKS" desc:"CIDR list of non-public networks that endpoints may live in"`
	ExtraCAFile      string          `env:"WEBHOOK_SINK_EXTRA_CA_FILE" desc:"PEM file of roots to trust beside the system's"`
	Timeout          time.Duration   `env:"WEBHOOK_SINK_TIMEOUT" envDefault:"5s" desc:"how long a receiver may take to answer an attempt, at most 5s"`
	RetryDelays      []time.Duration `env:"WEBHOOK_SINK_RETRY_DELAYS" envDefault:"5s,30s,2m,5m,8m,8m,8m,8m,23m" desc:"pauses between attempts, one retry topic for each that differs; the last repeats until the window ends"`
	RetryWindow      time.Duration   `env:"WEBHOOK_SINK_RETRY_WINDOW" envDefault:"4h" desc:"how long after its first attempt an event is retried, at most 4h"`
	MaxInFlight      int             `env:"WEBHOOK_SINK_MAX_IN_FLIGHT" envDefault:"64" desc:"attempts in flight per destination"`
	MaxInFlightTotal int             `env:"WEBHOOK_SINK_MAX_IN_FLIGHT_TOTAL" envDefault:"1024" desc:"attempts in flight over all destinations; a single one never takes more than it leaves to the others"`
}

// The limits of spec.md: the receiver must respond within 5 seconds, and retries
// go on for at most 4 hours in total.
const (
	maxTimeout = 5 * time.Second
	maxWindow  = 4 * time.Hour
)

const (
	maxRetryDelays = 32 // each is a topic
	maxInFlight    = 100_000
)

// Validate reports every setting that cannot work, each with the variable, the
// value and what was expected.
func (c Config) Validate() error {
	var errs []error
	expect := func(ok bool, variable string, value any, expectation string) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s=%v: expected %s", variable, value, expectation))
		}
	}
	expect(c.Timeout >= time.Millisecond && c.Timeout <= maxTimeout,
		"WEBHOOK_SINK_TIMEOUT", schedule.Brief(c.Timeout), "a duration of 1ms to 5s")
	expect(c.RetryWindow >= time.Millisecond && c.RetryWindow <= maxWindow,
		"WEBHOOK_SINK_RETRY_WINDOW", schedule.Brief(c.RetryWindow), "a duration of at most 4h")
	expect(validDelays(c.RetryDelays),
		"WEBHOOK_SINK_RETRY_DELAYS", list(c.RetryDelays), "1 to 32 durations of whole milliseconds, ascending or repeated, like 5s,30s,2m,2m,10m")
	expect(c.MaxInFlight >= 1 && c.MaxInFlight <= maxInFlight,
		"WEBHOOK_SINK_MAX_IN_FLIGHT", c.MaxInFlight, "1 to 100000")
	expect(c.MaxInFlightTotal >= c.MaxInFlight && c.MaxInFlightTotal <= maxInFlight,
		"WEBHOOK_SINK_MAX_IN_FLIGHT_TOTAL", c.MaxInFlightTotal, "WEBHOOK_SINK_MAX_IN_FLIGHT to 100000")
	return errors.Join(errs...)
}

// validDelays: each delay becomes the name of a topic and a time in a header,
// which counts milliseconds.
func validDelays(delays []time.Duration) bool {
	previous := time.Duration(0)
	for _, delay := range delays {
		if delay <= 0 || delay < previous || delay%time.Millisecond != 0 {
			return false
		}
		previous = delay
	}
	return len(delays) >= 1 && len(delays) <= maxRetryDelays
}

func list(delays []time.Duration) string {
	texts := make([]string, len(delays))
	for i, delay := range delays {
		texts[i] = schedule.Brief(delay)
	}
	return strings.Join(texts, ",")
}
