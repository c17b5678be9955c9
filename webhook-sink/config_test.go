package webhooksink

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anabranch/anabranch/webhook-sink/internal/usual"
)

func TestValidateAcceptsTheDefaults(t *testing.T) {
	if err := testConfig().Validate(); err != nil {
		t.Fatal(err)
	}
}

// TestTheDefaultsAreTheUsual: those that the simulations of the engine run.
func TestTheDefaultsAreTheUsual(t *testing.T) {
	cfg := testConfig()
	if !slices.Equal(cfg.RetryDelays, usual.Delays()) || cfg.RetryWindow != usual.Window ||
		cfg.MaxInFlight != usual.InFlight || cfg.MaxInFlightTotal != usual.InFlightAll {
		t.Errorf("defaults %+v, expected those of package usual", cfg)
	}
}

func TestValidateNamesVariableValueAndExpectation(t *testing.T) {
	tests := []struct {
		spoil func(*Config)
		want  string
	}{
		{func(c *Config) { c.Timeout = 0 }, "WEBHOOK_SINK_TIMEOUT=0s: expected a duration of 1ms to 5s"},
		{func(c *Config) { c.Timeout = 6 * time.Second }, "WEBHOOK_SINK_TIMEOUT=6s: expected a duration of 1ms to 5s"},
		{func(c *Config) { c.RetryWindow = 5 * time.Hour }, "WEBHOOK_SINK_RETRY_WINDOW=5h: expected a duration of at most 4h"},
		{func(c *Config) { c.RetryWindow = -time.Hour }, "WEBHOOK_SINK_RETRY_WINDOW=-1h: expected"},
		{func(c *Config) { c.RetryDelays = nil }, "WEBHOOK_SINK_RETRY_DELAYS=: expected 1 to 32 durations"},
		{func(c *Config) { c.RetryDelays = []time.Duration{0} }, "WEBHOOK_SINK_RETRY_DELAYS=0s: expected"},
		{func(c *Config) { c.RetryDelays = []time.Duration{time.Second, time.Millisecond} }, "ascending"},
		{func(c *Config) { c.RetryDelays = []time.Duration{time.Microsecond} }, "whole milliseconds"},
		{func(c *Config) { c.RetryDelays = ascending(33) }, "1 to 32"},
		{func(c *Config) { c.MaxInFlight = 0 }, "WEBHOOK_SINK_MAX_IN_FLIGHT=0: expected 1 to 100000"},
		{func(c *Config) { c.MaxInFlightTotal = 63 }, "WEBHOOK_SINK_MAX_IN_FLIGHT_TOTAL=63: expected WEBHOOK_SINK_MAX_IN_FLIGHT to 100000"},
	}
	for _, tt := range tests {
		cfg := testConfig()
		tt.spoil(&cfg)
		err := cfg.Validate()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Validate() = %v, expected %q in it", err, tt.want)
		}
	}
}

func TestValidateReportsEverything(t *testing.T) {
	err := Config{}.Validate()
	for _, variable := range []string{"TIMEOUT", "RETRY_WINDOW", "RETRY_DELAYS", "MAX_IN_FLIGHT"} {
		if err == nil || !strings.Contains(err.Error(), "WEBHOOK_SINK_"+variable+"=") {
			t.Errorf("Validate() = %v, expected WEBHOOK_SINK_%s in it", err, variable)
		}
	}
}

func ascending(n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = time.Duration(i+1) * time.Second
	}
	return all
}
