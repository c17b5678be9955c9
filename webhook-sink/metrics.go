package webhooksink

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

// metrics are the sink's. A record is counted when it is finished: a record that
// is met twice (after a kill) is counted twice.
type metrics struct {
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

	known sync.Map // ids that the workspace has named since the start
}

// removed is the label of destinations that the workspace has never named in the
// lifetime of this process; no id looks like it. Ids come from record headers
// too, and a label must not be whatever those say.
const removed = "(removed)"

const (
	resultDelivered = "delivered"
	resultRetried   = "retried"
	resultDead      = "dead"
)

const (
	commitDone   = "done"
	commitFailed = "failed"
)

func newMetrics(reg prometheus.Registerer) *metrics {
	m := new(metrics)
	m.makeCounters()
	m.makeGauges()
	reg.MustRegister(m.deliveries, m.attempts, m.deadLetters, m.hops, m.writeErrors, m.commits,
		m.inFlight, m.queued, m.latency, m.lateness, m.due, m.leftOut, m.down)
	for _, reason := range schemas.Reasons() {
		m.deadLetters.WithLabelValues(string(reason))
	}
	m.commits.WithLabelValues(commitDone)
	m.commits.WithLabelValues(commitFailed)
	m.deliveries.WithLabelValues(removed, resultDead)
	return m
}

func (m *metrics) makeCounters() {
	m.deliveries = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_deliveries_total",
		Help: "Events by destination and result: delivered, retried (once per failed attempt that is followed by another), dead (in dead-letters).",
	}, []string{"destination", "result"})
	m.attempts = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_attempts_total",
		Help: "Requests to endpoints by destination and outcome: delivered, or the reason of the failure.",
	}, []string{"destination", "outcome"})
	m.deadLetters = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_dead_letters_total",
		Help: "Events that were given up, by reason.",
	}, []string{"reason"})
	m.hops = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_hops_total",
		Help: "Retries put back without an attempt: they got a slot in the future, or they are not due for longer than their topic's delay.",
	})
	m.leftOut = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_left_out_total",
		Help: "Requests to endpoints that were not made, since the endpoint is down. An event for which that leaves no endpoint waits on a retry topic.",
	}, []string{"destination"})
	m.writeErrors = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_write_errors_total",
		Help: "Failed writes of retry records and dead letters; each is tried again.",
	})
	m.commits = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_webhook_sink_commits_total",
		Help: "Offset commits by result: done, failed (tried again a second later).",
	}, []string{"result"})
}

func (m *metrics) makeGauges() {
	m.due = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_retries_waiting",
		Help: "Retries that are due and wait for a slot of their destination.",
	})
	m.down = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_endpoints_down",
		Help: "Endpoints whose breaker is open: they failed so often in a row that only a probe goes there until one succeeds.",
	}, []string{"destination"})
	m.inFlight = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_in_flight",
		Help: "Attempts in flight.",
	})
	m.queued = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anabranch_webhook_sink_queue_bytes",
		Help: "Bytes of events that wait for their first attempt or are in it.",
	})
	m.latency = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "anabranch_webhook_sink_delivery_seconds",
		Help:    "Time from when an event was routed to when its first attempt delivered it.",
		Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 14),
	})
	m.lateness = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name:    "anabranch_webhook_sink_retry_lateness_seconds",
		Help:    "Time from when a retry was due to when its attempt began.",
		Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
	})
}

// follow creates the series of every destination, so that a rate over them sees
// the first event too.
func (m *metrics) follow(ws *workspace.Snapshot) {
	for _, dest := range ws.Destinations() {
		if _, known := m.known.LoadOrStore(dest.ID, true); known {
			continue
		}
		for _, r := range []string{resultDelivered, resultRetried, resultDead} {
			m.deliveries.WithLabelValues(dest.ID, r)
		}
		m.attempts.WithLabelValues(dest.ID, attempt.OutcomeDelivered)
		for _, reason := range attemptReasons() {
			m.attempts.WithLabelValues(dest.ID, string(reason))
		}
		m.leftOut.WithLabelValues(dest.ID)
		m.down.WithLabelValues(dest.ID)
	}
}

// attemptReasons are those that a request to an endpoint fails for.
func attemptReasons() []schemas.Reason {
	return []schemas.Reason{
		schemas.ReasonStatus3xx, schemas.ReasonStatus4xx, schemas.ReasonStatus5xx, schemas.ReasonTimeout,
		schemas.ReasonNetwork, schemas.ReasonTLS, schemas.ReasonSelfSigned, schemas.ReasonAddressRefused,
	}
}

func (m *metrics) label(destination string) string {
	if _, known := m.known.Load(destination); known {
		return destination
	}
	return removed
}

// Posted implements attempt.Observer.
func (m *metrics) Posted(destination, outcome string) {
	m.attempts.WithLabelValues(m.label(destination), outcome).Inc()
}

// LeftOut implements attempt.Observer.
func (m *metrics) LeftOut(destination string) {
	m.leftOut.WithLabelValues(m.label(destination)).Inc()
}

// Down implements attempt.Observer.
func (m *metrics) Down(destination string, more int) {
	m.down.WithLabelValues(m.label(destination)).Add(float64(more))
}

func (m *metrics) delivered(j *dispatch.Job, f schedule.Fate, since time.Duration) {
	m.deliveries.WithLabelValues(m.label(f.Headers.Destination), resultDelivered).Inc()
	if !j.IsRetry() {
		m.latency.Observe(since.Seconds())
	}
}

func (m *metrics) retried(f schedule.Fate) {
	m.deliveries.WithLabelValues(m.label(f.Headers.Destination), resultRetried).Inc()
}

func (m *metrics) died(f schedule.Fate) {
	m.deliveries.WithLabelValues(m.label(f.Headers.Destination), resultDead).Inc()
	m.deadLetters.WithLabelValues(string(f.Headers.Reason)).Inc()
}
