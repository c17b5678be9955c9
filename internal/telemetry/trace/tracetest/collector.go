// Package tracetest has an OpenTelemetry collector for tests: it takes traces over
// HTTP, as the protocol has it (OTLP 1.x, "OTLP/HTTP"), and shows them.
package tracetest

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is a span as it was received. Ids are hexadecimal; Parent is empty for the
// root of a trace.
type Span struct {
	Name, Trace, ID, Parent string
	Attributes              map[string]string // numbers in decimal
	Failed                  bool
	Message                 string // of a failure
	Resource                map[string]string
}

// Collector takes traces until its test ends.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT

	mu     sync.Mutex
	spans  []Span
	bodies [][]byte
	asked  atomic.Int64
	header http.Header  // of the last request
	status atomic.Int64 // what is answered; zero for 200
}

// New starts a collector.
func New(tb testing.TB) *Collector {
	tb.Helper()
	c := new(Collector)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", c.take)
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// Answer makes the collector answer with a status, and take nothing unless that is
// 200.
func (c *Collector) Answer(status int) { c.status.Store(int64(status)) }

// Asked returns how many requests there were, refused ones too.
func (c *Collector) Asked() int { return int(c.asked.Load()) }

// Header returns a header of the last request that was taken.
func (c *Collector) Header(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header.Get(name)
}

// Spans returns what was taken so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Holds reports whether a text stands anywhere in what was received.
func (c *Collector) Holds(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.bodies, func(b []byte) bool { return bytes.Contains(b, []byte(text)) })
}

func (c *Collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.asked.Add(1)
	if status := c.status.Load(); status != 0 && status != http.StatusOK {
		http.Error(w, "as the test wants it", int(status))
		return
	}
	var request collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &request) != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.header = append(c.bodies, body), r.Header
	for _, of := range request.GetResourceSpans() {
		resource := attributes(of.GetResource().GetAttributes())
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, read(span, resource))
			}
		}
	}
}

func read(s *wire.Span, resource map[string]string) Span {
	return Span{
		Name: s.GetName(), Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()),
		Parent: hex.EncodeToString(s.GetParentSpanId()), Attributes: attributes(s.GetAttributes()),
		Failed:  s.GetStatus().GetCode() == wire.Status_STATUS_CODE_ERROR,
		Message: s.GetStatus().GetMessage(), Resource: resource,
	}
}

func attributes(all []*common.KeyValue) map[string]string {
	read := make(map[string]string, len(all))
	for _, each := range all {
		switch value := each.GetValue().GetValue().(type) {
		case *common.AnyValue_IntValue:
			read[each.GetKey()] = strconv.FormatInt(value.IntValue, 10)
		default:
			read[each.GetKey()] = each.GetValue().GetStringValue()
		}
	}
	return read
}
