package config

import (
	"strings"
	"testing"
	"time"
)

func TestValidateAcceptsTheDefaults(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Fatal(err)
	}
}

// TestTheDefaultsAreTheUsual: the delays keep their two bounds, the first of them
// unless all waits were as short as jitter can make them.
func TestTheDefaultsAreTheUsual(t *testing.T) {
	cfg := Default()
	for _, jitter := range []float64{0.75, 1, 1.25} {
		var waits int
		var last time.Duration
		for age := time.Duration(0); ; {
			wait := time.Duration(jitter * float64(cfg.RetryDelays[min(waits, len(cfg.RetryDelays)-1)]))
			if age < 30*time.Minute && wait > 10*time.Minute && jitter >= 1 {
				t.Errorf("jitter %v: an event %s old waits %s", jitter, age, wait)
			}
			if age+wait > cfg.RetryWindow {
				last = cfg.RetryWindow - age
				break
			}
			age += wait
			waits++
		}
		if waits > 20 || last > 30*time.Minute {
			t.Errorf("jitter %v: %d waits, and the last attempt %s before the end", jitter, waits, last)
		}
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
		cfg := Default()
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
