package router

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/telemetry/trace"
	"github.com/anabranch/anabranch/internal/telemetry/trace/tracetest"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
)

const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

// tracing returns a tracer that sends to a collector until the test ends.
func tracing(t *testing.T) (*trace.Tracer, *tracetest.Collector) {
	t.Helper()
	collector := tracetest.New(t)
	tracer, err := trace.New(
		trace.Config{Endpoint: collector.URL, Exporter: "otlp", Sampler: "parentbased_always_on"},
		trace.Settings{Logger: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()},
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- tracer.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return tracer, collector
}

// TestASpanPerCommit: what an aborted transaction did is in no trace, since it did
// not happen. The event that is not traced has no span and no header.
func TestASpanPerCommit(t *testing.T) {
	t.Parallel()
	c := testkit.Fake(t, kfake.NumBrokers(1))
	b := newBench(t, c)
	traced := event("u", 1, schemas.Headers{Source: "web", TraceParent: traceParent})
	poison := event("u", 2, schemas.Headers{TraceParent: traceParent})
	b.send(t, traced, poison, event("u", 3, schemas.Headers{Source: "web"}))
	var refused atomic.Bool // the first write
	c.Fake.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
		c.Fake.KeepControl()
		produce, ok := request.(*kmsg.ProduceRequest)
		if !ok || produce.TransactionID == nil || refused.Swap(true) {
			return nil, nil, false
		}
		return failed(produce, kerr.MessageTooLarge.Code), nil, true
	})
	tracer, collector := tracing(t)
	start(t, b.router(t, func(_ *Config, set *Settings) { set.Trace = tracer }))

	testkit.Until(t, func() bool { return names(collector)["process raw-events"] == 2 }, "the spans of the commit")
	sends := 0
	for name, n := range names(collector) {
		if strings.HasPrefix(name, "send ") {
			sends += n
		}
	}
	// Whatever was refused, three records were committed for the two events: a
	// delivery or dead letter for each destination of one, and that of the other.
	if !refused.Load() || sends != 3 {
		t.Errorf("refused %v, %d sends; spans %v", refused.Load(), sends, names(collector))
	}
	for _, s := range collector.Spans() {
		if s.Attributes["messaging.message.id"] == "u-3" {
			t.Errorf("span %q of an event that is not traced", s.Name)
		}
	}
}

func names(c *tracetest.Collector) map[string]int {
	all := make(map[string]int)
	for _, s := range c.Spans() {
		all[s.Name]++
	}
	return all
}

// failed answers a produce request with one error for all partitions.
func failed(request *kmsg.ProduceRequest, code int16) *kmsg.ProduceResponse {
	response, _ := request.ResponseKind().(*kmsg.ProduceResponse)
	for _, topic := range request.Topics {
		answer := kmsg.NewProduceResponseTopic()
		answer.Topic, answer.TopicID = topic.Topic, topic.TopicID
		for _, partition := range topic.Partitions {
			each := kmsg.NewProduceResponseTopicPartition()
			each.Partition, each.ErrorCode = partition.Partition, code
			answer.Partitions = append(answer.Partitions, each)
		}
		response.Topics = append(response.Topics, answer)
	}
	return response
}

// TestBadEventsAreLoggedByKind, not each: the topic holds them all.
func TestBadEventsAreLoggedByKind(t *testing.T) {
	t.Parallel()
	out := new(testkit.Logs)
	s := newStage(Config{}, Settings{Logger: out.Logger(), Registerer: prometheus.NewRegistry()})
	h := schemas.Headers{MessageID: "m-1", TraceParent: traceParent}
	for range 1000 {
		for _, reason := range []schemas.Reason{schemas.ReasonRecordInvalid, schemas.ReasonVersionUnknown} {
			s.bury(&kgo.Record{Topic: "raw-events"}, &h, &decision{result: dead, reason: reason})
		}
	}
	if n := out.Count("event goes to dead letters"); n != 2 || out.Count("message_id=m-1") != n || out.Count("trace_id=4bf92f3577b34da6a3ce929d0e0e4736") != n {
		t.Errorf("%d lines for 2,000 events of two kinds:\n%s", n, out)
	}
}

func TestDescribeCountsWhatBecameOfAnEvent(t *testing.T) {
	t.Parallel()
	tracer, collector := tracing(t)
	testkit.Until(t, func() bool {
		span := tracer.Process("raw-events", &schemas.Headers{TraceParent: traceParent})
		describe(span, []decision{{result: routed}, {result: filtered}, {result: filtered}, {result: dead, reason: schemas.ReasonRecordInvalid, detail: "why"}, {result: unconnected}})
		span.End()
		return len(collector.Spans()) > 0
	}, "a span to arrive")
	s := collector.Spans()[0]
	for key, want := range map[string]string{trace.Routed: "1", trace.Filtered: "2", trace.Dead: "1", "error.type": "record_invalid"} {
		if s.Attributes[key] != want {
			t.Errorf("%s is %q, want %s", key, s.Attributes[key], want)
		}
	}
	if !s.Failed || s.Message != "why" {
		t.Errorf("span %+v", s)
	}
	describe(trace.Span{}, []decision{{result: dead}})
}
