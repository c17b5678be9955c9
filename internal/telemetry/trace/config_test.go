package trace

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/anabranch/anabranch/schemas"
)

// usual is the configuration of an environment that says where the collector is.
func usual(url string) Config {
	return Config{Endpoint: url, Protocol: "http/protobuf", Exporter: "otlp", Sampler: "parentbased_always_on", SamplerArg: "1"}
}

func TestOnlyACollectorTurnsTracingOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Config)
		url    string // empty: off
	}{
		"a collector":                   {func(*Config) {}, "http://127.0.0.1:4318/v1/traces"},
		"one with a slash":              {func(c *Config) { c.Endpoint += "/" }, "http://127.0.0.1:4318/v1/traces"},
		"one for traces":                {func(c *Config) { c.TracesEndpoint = "https://t.example.com/in" }, "https://t.example.com/in"},
		"one for traces alone":          {func(c *Config) { c.Endpoint, c.TracesEndpoint = "", "https://t.example.com/" }, "https://t.example.com/"},
		"none":                          {func(c *Config) { c.Endpoint = "" }, ""},
		"the SDK disabled":              {func(c *Config) { c.Disabled = true }, ""},
		"an exporter that exports none": {func(c *Config) { c.Exporter = "none" }, ""},
	} {
		cfg := usual("http://127.0.0.1:4318")
		c.change(&cfg)
		if cfg.On() != (c.url != "") || c.url != "" && cfg.url() != c.url {
			t.Errorf("%s: on %v, url %s, want %q", name, cfg.On(), cfg.url(), c.url)
		}
		if err := cfg.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettingsThatCannotWorkAreNamed(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*Config){
		"OTEL_TRACES_EXPORTER=zipkin: expected one of otlp, none":                             func(c *Config) { c.Exporter = "zipkin" },
		"OTEL_EXPORTER_OTLP_PROTOCOL=grpc: expected one of http/protobuf, http/json":          func(c *Config) { c.Protocol = "grpc" },
		"OTEL_EXPORTER_OTLP_ENDPOINT: expected an http or https URL with a host":              func(c *Config) { c.Endpoint = "127.0.0.1:4317" },
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: expected a URL without user and query":           func(c *Config) { c.TracesEndpoint = "http://u:zqSecret7@h/" },
		"OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL without user":                            func(c *Config) { c.Endpoint = "http://h/?token=zqSecret7" },
		"OTEL_EXPORTER_OTLP_HEADERS=[redacted]: expected name=value, comma":                   func(c *Config) { c.Headers = "zqSecret7" },
		"OTEL_EXPORTER_OTLP_HEADERS=[redacted]: expected name=value":                          func(c *Config) { c.Headers = "api-key=zqSecret7%zz" },
		"OTEL_EXPORTER_OTLP_HEADERS=[redacted]: expected name":                                func(c *Config) { c.Headers = "a=b,c d=zqSecret7" },
		"OTEL_EXPORTER_OTLP_HEADERS=[redacted]: expected":                                     func(c *Config) { c.Headers = "a=zqSecret7%0d%0aX: y" },
		"OTEL_TRACES_SAMPLER=sometimes: expected always_on, always_off or traceidratio":       func(c *Config) { c.Sampler = "sometimes" },
		"OTEL_TRACES_SAMPLER_ARG=1%: expected a number from 0 to 1":                           func(c *Config) { c.Sampler, c.SamplerArg = "traceidratio", "1%" },
		"OTEL_TRACES_SAMPLER_ARG=NaN: expected a number from 0 to 1":                          func(c *Config) { c.Sampler, c.SamplerArg = "parentbased_traceidratio", "NaN" },
		"OTEL_TRACES_SAMPLER_ARG=1.1: expected a number from 0 to 1":                          func(c *Config) { c.Sampler, c.SamplerArg = "traceidratio", "1.1" },
		"OTEL_TRACES_SAMPLER_ARG=-0.1: expected a number from 0 to 1":                         func(c *Config) { c.Sampler, c.SamplerArg = "traceidratio", "-0.1" },
		"OTEL_TRACES_SAMPLER=: expected always_on, always_off or traceidratio, or one of the": func(c *Config) { c.Sampler = "" },
	} {
		cfg := usual("http://127.0.0.1:4318")
		change(&cfg)
		err := cfg.Validate()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "zqSecret7") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestSamplers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"always_on": "AlwaysOnSampler", "always_off": "AlwaysOffSampler", "traceidratio": "TraceIDRatioBased{0.25}",
		"parentbased_always_on":    "ParentBased{root:AlwaysOnSampler",
		"parentbased_always_off":   "ParentBased{root:AlwaysOffSampler",
		"parentbased_traceidratio": "ParentBased{root:TraceIDRatioBased{0.25}",
	} {
		sampler, err := (&Config{Sampler: name, SamplerArg: "0.25"}).sampler()
		if err != nil || !strings.HasPrefix(sampler.Description(), want) {
			t.Errorf("%s: %v, %v, want %s", name, sampler, err, want)
		}
	}
}

func TestTheServiceHasAName(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	cfg := usual("")
	set := Settings{Service: "anabranch-router", Version: "v1", Instance: "i"}
	if got := cfg.resource(set).String(); got != "deployment.environment.name=test,service.instance.id=i,service.name=anabranch-router,service.version=v1" {
		t.Errorf("resource %s", got)
	}
	cfg.ServiceName = "own"
	if got := cfg.resource(set).String(); !strings.Contains(got, "service.name=own") {
		t.Errorf("resource %s", got)
	}
}

func TestHeadersOfTheExporter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		"":                           {},
		"api-key=k":                  {"api-key": "k"},
		"a = b%20c , d=e=f,, ,g=":    {"a": "b c", "d": "e=f", "g": ""},
		"Authorization=Basic%20dTpw": {"Authorization": "Basic dTpw"},
	} {
		got, err := (&Config{Headers: schemas.Secret(text)}).headers()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, diff)
		}
	}
}
