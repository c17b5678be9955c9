package metrics

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/schemas"
)

// counters are the stage's. An event is accepted when its request has been
// answered 200, that is, when it is stored.
type counters struct {
	accepted    prometheus.Counter
	rejected    prometheus.Counter
	blocked     prometheus.Counter
	suppressed  prometheus.Counter
	rejections  *prometheus.CounterVec
	unavailable prometheus.Counter
	throttled   prometheus.Counter
	unreadable  prometheus.Counter
	skewed      prometheus.Counter
	requests    map[int]prometheus.Counter // by status
	nobody      prometheus.Counter
	violations  *prometheus.CounterVec
	sources     sources // labels of violations
	shed        prometheus.Counter
	latency     prometheus.Histogram
	duration    prometheus.Histogram
}

// prefix is that of all the series.
const prefix = "anabranch_ingest_"

func newCounters(reg prometheus.Registerer) *counters {
	register := promauto.With(reg)
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		return register.NewCounterVec(prometheus.CounterOpts{Name: prefix + name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter { return vector(name, help).WithLabelValues() }
	seconds := func(name, help string) prometheus.Histogram {
		return register.NewHistogram(prometheus.HistogramOpts{Name: prefix + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16)})
	}
	events := vector("events_total",
		"Events by result: accepted (stored, and answered 200), rejected (they break a rule; a request refused as a whole counts as one), blocked (by a tracking plan: dead letters, and answered 200), suppressed (of a suppressed user: dropped, and answered 200).", "result")
	requests := vector("requests_total", "Requests by the status of their answer.", "code")
	m := &counters{
		accepted:   events.WithLabelValues("accepted"),
		rejected:   events.WithLabelValues("rejected"),
		suppressed: events.WithLabelValues("suppressed"),
		blocked:    events.WithLabelValues("blocked"),
		requests:   make(map[int]prometheus.Counter),
		rejections: vector("rejected_total", "Rejected events by the code of the rule that they break.", "code"),
		unavailable: counter("unavailable_total",
			"Events that were answered 503 because the brokers did not acknowledge them; clients send them again."),
		throttled: counter("throttled_total",
			"Events that were answered 429 because their source has sent more than INGEST_RATE_PER_SOURCE; clients send them again."),
		skewed: counter("skewed_clocks_total",
			"Events sent by a clock that is wrong by more than 45 minutes; their timestamps are corrected by the difference."),
		unreadable: counter("unreadable_timestamps_total",
			"Timestamps of accepted or rejected events that could not be read and were treated as absent."),
		nobody: counter("identity_blocked_total",
			"Events accepted or blocked by a tracking plan whose userId or anonymousId stands for nobody, such as null or undefined: they are delivered, and not taken for those of one user."),
		violations: vector("plan_violations_total",
			"Events that violate the tracking plan of their source, by action: allow and mark are accepted, block is blocked. Sources beyond the first 500 are summed up under source=\"_other\".", "source", "action"),
		shed: counter("connections_shed_total",
			"Connections that were closed to make room for others, see INGEST_MAX_CONNECTIONS."),
		latency: seconds("produce_seconds",
			"Time from handing a request's events to the Kafka client until the brokers acknowledge them, or the wait is given up."),
		duration: seconds("request_seconds",
			"Time from the end of reading a request to the end of writing its answer; from the end of its header, where that is enough to refuse it. Preflights are excluded."),
	}
	for _, code := range schemas.Codes() {
		m.rejections.WithLabelValues(string(code))
	}
	for _, status := range answer.Statuses() {
		m.requests[status] = requests.WithLabelValues(strconv.Itoa(status))
	}
	return m
}

// count counts one request. The events of a 503 and of a 429 come again: what
// else is to be said of them is counted then.
func (m *counters) count(o *Outcome) {
	m.requests[o.Status()].Inc()
	switch o.Status() {
	case http.StatusServiceUnavailable:
		m.unavailable.Add(float64(o.Accepted + o.Blocked))
		return
	case http.StatusTooManyRequests:
		m.throttled.Add(float64(o.Accepted + o.Blocked))
		return
	}
	m.unreadable.Add(float64(o.Unreadable))
	m.skewed.Add(float64(o.Skew.Calls))
	for i := range o.Rejected {
		m.reject(o.Rejected[i].Code)
	}
	switch {
	case o.Problem == nil:
		if o.Violating > 0 {
			m.violations.WithLabelValues(m.sources.label(o.Source), string(o.Action)).Add(float64(o.Violating))
		}
		m.nobody.Add(float64(o.Nobody))
		m.accepted.Add(float64(o.Accepted))
		m.blocked.Add(float64(o.Blocked))
		m.suppressed.Add(float64(o.Suppressed))
	case len(o.Rejected) == 0 && slices.Contains(schemas.Codes(), o.Problem.Code):
		m.reject(o.Problem.Code)
	}
}

func (m *counters) reject(code schemas.Code) {
	m.rejected.Inc()
	m.rejections.WithLabelValues(string(code)).Inc()
}
