package ingest

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/schemas"
)

// metrics are the stage's. An event is accepted when its request has been
// answered 200, that is, when it is stored.
type metrics struct {
	accepted    prometheus.Counter
	rejected    prometheus.Counter
	rejections  *prometheus.CounterVec
	unavailable prometheus.Counter
	unreadable  prometheus.Counter
	requests    map[int]prometheus.Counter // by status
	latency     prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer) *metrics {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_ingest_events_total",
		Help: "Events by result: accepted (stored, and answered 200), rejected (they break a rule; a request refused as a whole counts as one).",
	}, []string{"result"})
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "anabranch_ingest_requests_total",
		Help: "Requests by the status of their answer.",
	}, []string{"code"})
	m := &metrics{
		accepted: events.WithLabelValues("accepted"),
		rejected: events.WithLabelValues("rejected"),
		rejections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anabranch_ingest_rejected_total",
			Help: "Rejected events by the code of the rule that they break.",
		}, []string{"code"}),
		unavailable: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anabranch_ingest_unavailable_total",
			Help: "Events that were answered 503 because the brokers did not acknowledge them; clients send them again.",
		}),
		unreadable: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "anabranch_ingest_unreadable_timestamps_total",
			Help: "Time stamps of accepted or rejected events that could not be read, and counted as absent.",
		}),
		requests: make(map[int]prometheus.Counter),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "anabranch_ingest_produce_seconds",
			Help:    "Time from handing a request's events to the client until the brokers had acknowledged them, or it was given up.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}),
	}
	reg.MustRegister(events, m.rejections, m.unavailable, m.unreadable, requests, m.latency)
	for _, code := range schemas.Codes() {
		m.rejections.WithLabelValues(string(code))
	}
	for _, status := range answer.Statuses() {
		m.requests[status] = requests.WithLabelValues(strconv.Itoa(status))
	}
	return m
}

// count counts one request. The events of a 503 come again: what else is to be
// said of them is counted then.
func (m *metrics) count(o *outcome) {
	m.requests[o.status()].Inc()
	if o.status() == http.StatusServiceUnavailable {
		m.unavailable.Add(float64(o.events))
		return
	}
	m.unreadable.Add(float64(o.unreadable))
	for i := range o.rejected {
		m.reject(o.rejected[i].Code)
	}
	switch {
	case o.problem == nil:
		m.accepted.Add(float64(o.events))
	case len(o.rejected) == 0 && slices.Contains(schemas.Codes(), o.problem.Code):
		m.reject(o.problem.Code)
	}
}

func (m *metrics) reject(code schemas.Code) {
	m.rejected.Inc()
	m.rejections.WithLabelValues(string(code)).Inc()
}
