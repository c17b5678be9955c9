package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/anabranch/anabranch/schemas"
)

// series are the sink's.
type series struct {
	deliveries  *prometheus.CounterVec
	attempts    *prometheus.CounterVec
	replayed    *prometheus.CounterVec
	deadLetters *prometheus.CounterVec
	byReason    map[schemas.Reason]prometheus.Counter // of deadLetters
	hops        prometheus.Counter
	writeErrors prometheus.Counter
	asideLost   prometheus.Counter

	journalErrors, journalLost prometheus.Counter

	commits  *prometheus.CounterVec
	inFlight prometheus.Gauge
	queued   prometheus.Gauge
	latency  *prometheus.HistogramVec
	firsts   prometheus.Observer // of latency
	retries  prometheus.Observer
	lateness prometheus.Histogram
	due      prometheus.Gauge
	leftOut  *prometheus.CounterVec
	down     *prometheus.GaugeVec
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

// prefix is that of all the sink's series.
const prefix = "anabranch_webhook_sink_"

func newSeries(reg prometheus.Registerer) *series {
	register := promauto.With(reg)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return register.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + name, Help: help}, labels)
	}
	s := &series{
		deliveries: counter("deliveries_total",
			"Events by destination and result: delivered, retried (once per failed attempt that is followed by another), dead (in dead-letters).", "destination", "result"),
		attempts: counter("attempts_total",
			"Requests to endpoints by destination and outcome: delivered, or the reason of the failure.", "destination", "outcome"),
		replayed: counter("replayed_total",
			"Events of replays that were delivered, by destination; deliveries_total counts them too.", "destination"),
		deadLetters: counter("dead_letters_total",
			"Events that were given up, by reason.", "reason"),
		hops: counter("hops_total",
			"Retries put back without an attempt: they got a slot in the future, they are not due for longer than their topic's delay, or their destination is paused.").WithLabelValues(),
		leftOut: counter("left_out_total",
			"Requests to endpoints that were not made, since the endpoint is down. An event for which that leaves no endpoint waits on a retry topic.", "destination"),
		writeErrors: counter("write_errors_total",
			"Failed writes of retry records and dead letters; each is retried.").WithLabelValues(),
		asideLost: counter("busy_key_losses_total",
			"Times that retention deleted events of busy keys before their first attempt; the log says which offsets. They are lost to their destination.").WithLabelValues(),
		journalErrors: counter("journal_write_failures_total",
			"Failed tries to write the journal; nothing is committed until one succeeds.").WithLabelValues(),
		journalLost: counter("journal_lost_total",
			"Attempts that the journal does not tell of, since it could not be written for so long that no more of them were kept.").WithLabelValues(),
		commits: counter("commits_total",
			"Offset commits by result: done, failed (retried a second later).", "result"),
		due: gauge("retries_due",
			"Retries that are due and wait for a slot of their destination.").WithLabelValues(),
		down: gauge("endpoints_down",
			"Endpoints whose breaker is open: they failed so often in a row that only probes are sent until one succeeds.", "destination"),
		inFlight: gauge("in_flight", "Attempts in flight.").WithLabelValues(),
		queued: gauge("queue_bytes",
			"Bytes of events that wait for their first attempt or are in it.").WithLabelValues(),
		latency: register.NewHistogramVec(prometheus.HistogramOpts{
			Name:    prefix + "call_to_delivery_seconds",
			Help:    "Time from when ingest accepted a call to its delivery, by attempt: first, retry (any later one).",
			Buckets: latencyBuckets(),
		}, []string{"attempt"}),
		lateness: register.NewHistogram(prometheus.HistogramOpts{
			Name:    prefix + "retry_lateness_seconds",
			Help:    "Time from when a retry was due to when its attempt began.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}),
		byReason: make(map[schemas.Reason]prometheus.Counter),
	}
	for _, reason := range schemas.Reasons() {
		s.byReason[reason] = s.deadLetters.WithLabelValues(string(reason))
	}
	s.commits.WithLabelValues(commitDone)
	s.commits.WithLabelValues(commitFailed)
	s.firsts, s.retries = s.latency.WithLabelValues("first"), s.latency.WithLabelValues("retry")
	return s
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
