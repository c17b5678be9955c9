package trace

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"
)

// Settings are what the process gives the tracer.
type Settings struct {
	Logger     *slog.Logger
	Registerer prometheus.Registerer
	Service    string // service.name unless it is configured
	Version    string // service.version
	Instance   string // service.instance.id
}

// Tracer makes spans and sends them to a collector. Nil, it makes none. It may be
// used by many goroutines.
type Tracer struct {
	tracer   api.Tracer
	provider *sdk.TracerProvider
	exporter *exporter
	every    time.Duration // how often spans are sent
	flush    time.Duration // how long a stop may take for what is left
}

const (
	// maxWaiting bounds the spans that wait for the collector, some ten megabytes.
	// A batch of 2,500 calls that is traced makes five spans of each.
	maxWaiting = 8192
	// sendEvery is short, so that there is little left to send at a stop.
	sendEvery = time.Second
	// flushTime bounds that: what a process may take to stop is the stages'.
	flushTime = 400 * time.Millisecond
)

// New returns a tracer, or nil when tracing is off. What ends before it runs is
// lost. Whether anybody is there at the endpoint shows later, in the log.
func New(cfg Config, set Settings) (*Tracer, error) {
	if !cfg.On() {
		return nil, nil //nolint:nilnil // off
	}
	sampler, err := cfg.sampler()
	if err != nil {
		return nil, err
	}
	headers, err := cfg.headers()
	if err != nil {
		return nil, err
	}
	// It dials when it has something to send.
	client, err := otlptracehttp.New(context.Background(), otlptracehttp.WithEndpointURL(cfg.url()), otlptracehttp.WithHeaders(headers))
	if err != nil {
		return nil, fmt.Errorf("create the exporter of traces: %w", err)
	}
	t := newTracer(client, sampler, cfg.resource(set), set)
	set.Logger.Info("tracing is on", "sampler", cfg.Sampler, "sampler_arg", cfg.SamplerArg)
	return t, nil
}

// newTracer returns a tracer that sends to any exporter.
func newTracer(to sdk.SpanExporter, sampler sdk.Sampler, of *resource.Resource, set Settings) *Tracer {
	provider := sdk.NewTracerProvider(sdk.WithSampler(sampler), sdk.WithResource(of), sdk.WithRawSpanLimits(spanLimits()))
	return &Tracer{
		tracer: provider.Tracer("github.com/anabranch/anabranch"), provider: provider,
		exporter: newExporter(to, set), every: sendEvery, flush: flushTime,
	}
}

// spanLimits bound what one span takes, whatever an event says of itself.
func spanLimits() sdk.SpanLimits {
	limits := sdk.NewSpanLimits()
	limits.AttributeValueLengthLimit = 256
	return limits
}

// resource says which process the spans are of. The environment's
// OTEL_RESOURCE_ATTRIBUTES are merged in by the SDK.
func (c *Config) resource(set Settings) *resource.Resource {
	name := c.ServiceName
	if name == "" {
		name = set.Service
	}
	own := resource.NewSchemaless(
		attribute.String("service.name", name),
		attribute.String("service.version", set.Version),
		attribute.String("service.instance.id", set.Instance),
	)
	merged, err := resource.Merge(resource.Environment(), own)
	if err != nil {
		return own // attributes nobody can read are none
	}
	return merged
}

// Name implements the service's contract.
func (t *Tracer) Name() string { return "tracing" }

// Run sends spans until ctx ends, and then, within a bound, what is left of them.
func (t *Tracer) Run(ctx context.Context) error {
	batches := sdk.NewBatchSpanProcessor(t.exporter, sdk.WithMaxQueueSize(maxWaiting), sdk.WithBatchTimeout(t.every))
	t.provider.RegisterSpanProcessor(&gate{SpanProcessor: batches, out: t.exporter})
	<-ctx.Done()
	timed, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.flush)
	defer cancel()
	if err := t.provider.Shutdown(timed); err != nil {
		// It goes on in the background, and has to hear that it is too late.
		_ = t.exporter.Shutdown(timed)
	}
	t.exporter.sayLost()
	return nil
}
