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
	byReason    map[schemas.Reason]prometheus.Counter // of deadLetters
	hops        prometheus.Counter
	writeErrors prometheus.Counter
	asideLost   prometheus.Counter
	commits     *prometheus.CounterVec
	inFlight    prometheus.Gauge
	queued      prometheus.Gauge
	latency     *prometheus.HistogramVec
	firsts      prometheus.Observer // of latency
	retries     prometheus.Observer
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
	reg.MustRegister(s.deliveries, s.attempts, s.deadLetters, s.hops, s.writeErrors, s.asideLost, s.commits,
		s.inFlight, s.queued, s.latency, s.lateness, s.due, s.leftOut, s.down)
	s.byReason = make(map[schemas.Reason]prometheus.Counter)
	for _, reason := range schemas.Reasons() {
		s.byReason[reason] = s.deadLetters.WithLabelValues(string(reason))
	}
	s.commits.WithLabelValues(commitDone)
	s.commits.WithLabelValues(commitFailed)
	s.firsts, s.retries = s.latency.WithLabelValues("first"), s.latency.WithLabelValues("retry")
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
		Help: "Failed writes of retry records and dead letters; each is retried.",
	})
	s.asideLost = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_busy_key_losses_total",
		Help: "Times that retention deleted events of busy keys before their first attempt; the log says which offsets. They are lost to their destination.",
	})
	s.commits = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_commits_total",
		Help: "Offset commits by result: done, failed (retried a second later).",
	}, []string{"result"})
}

func (s *series) makeGauges() {
	s.due = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_retries_due",
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
	s.latency = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "anabranch_webhook_sink_call_to_delivery_seconds",
		Help:    "Time from when ingest took a call to its delivery, by attempt: first, retry (any later one).",
		Buckets: latencyBuckets(),
	}, []string{"attempt"})
	s.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "anabranch_webhook_sink_retry_lateness_seconds",
		Help:    "Time from when a retry was due to when its attempt began.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
	})
}

// latencyBuckets reach from a first attempt on an idle machine to the end of the
// four hours for which an event is retried (spec.md, Errors), close together around
// the second in which most people want their events.
func latencyBuckets() []float64 {
	return []float64{
		0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
		60, 300, 900, 3600, 2 * 3600, 4 * 3600, 5 * 3600,
	}
}
