package trace

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"golang.org/x/net/http/httpguts"

	"github.com/anabranch/anabranch/schemas"
)

// Config is what an operator may set: OpenTelemetry's own variables. Those that are
// not listed here (certificates, timeouts and compression of the exporter,
// OTEL_BSP_*, OTEL_RESOURCE_ATTRIBUTES) its SDK reads by itself.
type Config struct {
	Endpoint       string         `env:"OTEL_EXPORTER_OTLP_ENDPOINT" desc:"URL of an OpenTelemetry collector, such as http://127.0.0.1:4318; traces go to its /v1/traces; empty: no tracing"`
	TracesEndpoint string         `env:"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" desc:"URL that traces go to, used as it is instead of the one above"`
	Protocol       string         `env:"OTEL_EXPORTER_OTLP_PROTOCOL" envDefault:"http/protobuf" desc:"http/protobuf or http/json"`
	Headers        schemas.Secret `env:"OTEL_EXPORTER_OTLP_HEADERS" desc:"headers of requests to the collector, such as its API key: name=value, comma separated, values percent-encoded"`
	Exporter       string         `env:"OTEL_TRACES_EXPORTER" envDefault:"otlp" desc:"otlp, or none: no tracing"`
	Disabled       bool           `env:"OTEL_SDK_DISABLED" envDefault:"false" desc:"true: no tracing"`
	Sampler        string         `env:"OTEL_TRACES_SAMPLER" envDefault:"parentbased_always_on" desc:"which calls are traced: always_on, always_off, traceidratio, or one of these with parentbased_ before it, which follows the caller's trace first"`
	SamplerArg     string         `env:"OTEL_TRACES_SAMPLER_ARG" envDefault:"1" desc:"share of the calls that traceidratio traces, 0 to 1"`
	ServiceName    string         `env:"OTEL_SERVICE_NAME" desc:"service.name of the spans; empty: anabranch, followed by the stage where a process runs only one"`
}

// On reports whether there is somewhere to send traces to, and nothing against it.
func (c *Config) On() bool {
	return !c.Disabled && c.Exporter != exporterNone && c.url() != ""
}

const exporterNone = "none"

// url is where traces go; empty for nowhere.
func (c *Config) url() string {
	if c.TracesEndpoint != "" || c.Endpoint == "" {
		return c.TracesEndpoint
	}
	return strings.TrimSuffix(c.Endpoint, "/") + "/v1/traces"
}

// Validate reports every setting that cannot work. Its errors do not show a URL
// that may hold a password.
func (c *Config) Validate() error {
	var errs []error
	oneOf := func(variable, value string, known ...string) {
		if !slices.Contains(known, value) {
			errs = append(errs, fmt.Errorf("%s=%s: expected one of %s", variable, value, strings.Join(known, ", ")))
		}
	}
	oneOf("OTEL_TRACES_EXPORTER", c.Exporter, "otlp", exporterNone)
	oneOf("OTEL_EXPORTER_OTLP_PROTOCOL", c.Protocol, "http/protobuf", "http/json")
	errs = append(errs, endpoint("OTEL_EXPORTER_OTLP_ENDPOINT", c.Endpoint), endpoint("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.TracesEndpoint))
	_, err := c.sampler()
	errs = append(errs, err)
	_, err = c.headers()
	errs = append(errs, err)
	return errors.Join(errs...)
}

func endpoint(variable, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("%s: expected an http or https URL with a host", variable)
	case u.User != nil || u.RawQuery != "":
		return fmt.Errorf("%s: expected a URL without user and query: credentials go into OTEL_EXPORTER_OTLP_HEADERS", variable)
	}
	return nil
}

// headers reads OTEL_EXPORTER_OTLP_HEADERS. Neither the error nor anybody else shows
// a value: left to it, the library would print one that it can't read.
func (c *Config) headers() (map[string]string, error) {
	all := make(map[string]string)
	for pair := range strings.SplitSeq(c.Headers.Reveal(), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, escaped, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(escaped))
		if err != nil || !found || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS=%s: expected name=value, comma separated, values percent-encoded", c.Headers)
		}
		all[name] = value
	}
	return all, nil
}

// sampler reads the two variables as OpenTelemetry's specification has them.
func (c *Config) sampler() (sdk.Sampler, error) {
	name, parentBased := strings.CutPrefix(c.Sampler, "parentbased_")
	var root sdk.Sampler
	switch name {
	case "always_on":
		root = sdk.AlwaysSample()
	case "always_off":
		root = sdk.NeverSample()
	case "traceidratio":
		share, err := strconv.ParseFloat(c.SamplerArg, 64)
		if err != nil || !(share >= 0 && share <= 1) { // NaN is no share
			return nil, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG=%s: expected a number from 0 to 1", c.SamplerArg)
		}
		root = sdk.TraceIDRatioBased(share)
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER=%s: expected always_on, always_off or traceidratio, or one of these with parentbased_ before it", c.Sampler)
	}
	if parentBased {
		return sdk.ParentBased(root), nil
	}
	return root, nil
}
