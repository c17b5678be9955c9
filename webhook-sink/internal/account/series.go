package account

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/schemas"
)

// series are the sink's.
type series struct {
	deliveries  *prometheus.CounterVec
	attempts    *prometheus.CounterVec
	deadLetters *prometheus.CounterVec
	hops        prometheus.Counter
	writeErrors prometheus.Counter
	commits     *prometheus.CounterVec
	inFlight    prometheus.Gauge
	queued      prometheus.Gauge
	latency     prometheus.Histogram
	lateness    prometheus.Histogram
	due         prometheus.Gauge
	leftOut     *prometheus.CounterVec
	down        *prometheus.GaugeVec
}

const (
	resultDelivered = "delivered"
	resultRetried   = "retried"
	resultDead      = "dead"
)

const (
	commitDone   = "done"
	commitFailed = "failed"
)

func newSeries(reg prometheus.Registerer) *series {
	s := new(series)
	s.makeCounters()
	s.makeGauges()
	reg.MustRegister(s.deliveries, s.attempts, s.deadLetters, s.hops, s.writeErrors, s.commits,
		s.inFlight, s.queued, s.latency, s.lateness, s.due, s.leftOut, s.down)
	for _, reason := range schemas.Reasons() {
		s.deadLetters.WithLabelValues(string(reason))
	}
	s.commits.WithLabelValues(commitDone)
	s.commits.WithLabelValues(commitFailed)
	s.deliveries.WithLabelValues(removed, resultDead)
	return s
}

func (s *series) makeCounters() {
	s.deliveries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_deliveries_total",
		Help: "Events by destination and result: delivered, retried (once per failed attempt that is followed by another), dead (in dead-letters).",
	}, []string{"destination", "result"})
	s.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_attempts_total",
		Help: "Requests to endpoints by destination and outcome: delivered, or the reason of the failure.",
	}, []string{"destination", "outcome"})
	s.deadLetters = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_dead_letters_total",
		Help: "Events that were given up, by reason.",
	}, []string{"reason"})
	s.hops = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_hops_total",
		Help: "Retries put back without an attempt: they got a slot in the future, or they are not due for longer than their topic's delay.",
	})
	s.leftOut = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_left_out_total",
		Help: "Requests to endpoints that were not made, since the endpoint is down. An event for which that leaves no endpoint waits on a retry topic.",
	}, []string{"destination"})
	s.writeErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_write_errors_total",
		Help: "Failed writes of retry records and dead letters; each is tried again.",
	})
	s.commits = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_commits_total",
		Help: "Offset commits by result: done, failed (tried again a second later).",
	}, []string{"result"})
}

func (s *series) makeGauges() {
	s.due = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_retries_waiting",
		Help: "Retries that are due and wait for a slot of their destination.",
	})
	s.down = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_endpoints_down",
		Help: "Endpoints whose breaker is open: they failed so often in a row that only a probe goes there until one succeeds.",
	}, []string{"destination"})
	s.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_in_flight",
		Help: "Attempts in flight.",
	})
	s.queued = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_queue_bytes",
		Help: "Bytes of events that wait for their first attempt or are in it.",
	})
	s.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "anabranch_webhook_sink_delivery_seconds",
		Help:    "Time from when an event was routed to when its first attempt delivered it.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 14),
	})
	s.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "anabranch_webhook_sink_retry_lateness_seconds",
		Help:    "Time from when a retry was due to when its attempt began.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
	})
}
