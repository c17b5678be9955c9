// Package config is what an operator may set of the sink, and what it does where nothing
// is set. The simulations of the engine run on the same defaults as the product.
package config

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/guard"
	"github.com/anabranch/anabranch/webhook-sink/internal/proxy"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// Config is what an operator may set.
type Config struct {
	AllowNetworks    []netip.Prefix  `env:"WEBHOOK_SINK_ALLOW_NETWORKS" desc:"CIDR list of non-public networks that endpoints may live in"`
	DenyNetworks     []netip.Prefix  `env:"WEBHOOK_SINK_DENY_NETWORKS" desc:"CIDR list of networks that endpoints may not live in, though public or allowed: your own public addresses, say"`
	Proxy            schemas.Secret  `env:"WEBHOOK_SINK_PROXY" desc:"http://host:port of a proxy that all deliveries go through, by CONNECT; it looks names up, and has to refuse those of private addresses; empty: none"`
	HTTPSOnly        bool            `env:"WEBHOOK_SINK_HTTPS_ONLY" envDefault:"false" desc:"whether events for http:// endpoints are dead letters, and nothing is sent there"`
	ExtraCAFile      string          `env:"WEBHOOK_SINK_EXTRA_CA_FILE" desc:"PEM file of roots to trust beside the system's"`
	Timeout          time.Duration   `env:"WEBHOOK_SINK_TIMEOUT" envDefault:"5s" desc:"how long a receiver may take to answer an attempt, at most 5s"`
	RetryDelays      []time.Duration `env:"WEBHOOK_SINK_RETRY_DELAYS" envDefault:"5s,30s,2m,5m,8m,8m,8m,8m,23m" desc:"pauses between attempts, with one retry topic for each distinct pause; the last repeats until the window ends"`
	RetryWindow      time.Duration   `env:"WEBHOOK_SINK_RETRY_WINDOW" envDefault:"4h" desc:"how long after its first attempt an event is retried, at most 4h"`
	KeepAnswers      bool            `env:"WEBHOOK_SINK_KEEP_ANSWERS" envDefault:"true" desc:"whether the first kilobyte of what an endpoint answers is kept when a delivery fails: the last 20 of each endpoint in memory, and the last one in the dead letter"`
	MaxInFlight      int             `env:"WEBHOOK_SINK_MAX_IN_FLIGHT" envDefault:"64" desc:"attempts in flight per destination"`
	MaxInFlightTotal int             `env:"WEBHOOK_SINK_MAX_IN_FLIGHT_TOTAL" envDefault:"1024" desc:"attempts in flight over all destinations; a single destination never takes more than it leaves to the others"`
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
	if c.Proxy != "" {
		_, err := proxy.Parse(c.Proxy)
		expect(err == nil, "WEBHOOK_SINK_PROXY", c.Proxy, "http://host:port or http://user:password@host:port")
	}
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

// Permit returns the sink's guard of addresses: nil for an address that endpoints
// may live at under these settings, or as one of the peers: single addresses that are
// allowed beside them.
func (c Config) Permit(peers ...netip.AddrPort) func(netip.AddrPort) error {
	return c.Guard(peers...).CheckPeer
}

// Guard returns the guard itself, see [Config.Permit].
func (c Config) Guard(peers ...netip.AddrPort) *guard.Guard {
	return guard.New(c.AllowNetworks, peers...).Denying(c.DenyNetworks)
}

// Via returns the proxy that everything goes through; nil: none. The settings are valid.
func (c Config) Via() *url.URL {
	if c.Proxy == "" {
		return nil
	}
	at, _ := proxy.Parse(c.Proxy)
	return at
}
