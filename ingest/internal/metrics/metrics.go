package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/anabranch/anabranch/ingest/internal/answer"
	"github.com/anabranch/anabranch/ingest/internal/decode"
	"github.com/anabranch/anabranch/ingest/internal/timestamp"
	"github.com/anabranch/anabranch/internal/workspace"
)

// Outcome is what became of one request. Its zero value is one of which nothing
// is known yet, and which has asked for nothing.
type Outcome struct {
	Read     time.Time        // when the request was, or its head, if it is answered without its body
	Client   netip.Addr       // the zero Addr when not known
	Source   string           // id; empty when not known
	Problem  *answer.Problem  // nil when it is answered 200
	Rejected []decode.Refusal // calls refused

	// Counts of calls. Unless Problem is nil those of the first three are neither
	// stored nor dropped: the client sends them again, or they break a rule
	// together.
	Accepted   int
	Blocked    int // to dead-letters, by a tracking plan
	Suppressed int // left out
	Violating  int // a tracking plan, those that are blocked included
	Nobody     int // those with an id that stands for nobody, in Accepted and Blocked

	Action     workspace.PlanAction // of the tracking plan; "" when there is none
	Unreadable int                  // time stamps
	Skew       timestamp.Skew       // of the clock that sent the calls
	Unchanged  bool                 // settings that the client has already
	Doubled    bool                 // the path has its version twice
	Proxied    bool                 // Client seems to be a proxy's, and is stored as a visitor's
}

// Status returns that of the answer.
func (o *Outcome) Status() int {
	switch {
	case o.Problem != nil:
		return o.Problem.Status
	case o.Unchanged:
		return http.StatusNotModified
	default:
		return http.StatusOK
	}
}

// Metrics counts and logs. It may be used by many goroutines.
type Metrics struct {
	counters *counters
	refusals *refusals
	notices  *notices
}

// New returns metrics with all its series at zero.
func New(reg prometheus.Registerer, log *slog.Logger) *Metrics {
	return &Metrics{counters: newCounters(reg), refusals: newRefusals(log), notices: newNotices(log)}
}

// Request reports a request that was answered at a time.
func (m *Metrics) Request(ctx context.Context, now time.Time, o *Outcome) {
	m.counters.count(o)
	m.refusals.write(ctx, now, o)
	m.notices.write(ctx, now, o)
}

// Answered reports that the answer of a request was written.
func (m *Metrics) Answered(o *Outcome) { m.counters.duration.Observe(time.Since(o.Read).Seconds()) }

// Preflight reports a request that asks what may be sent.
func (m *Metrics) Preflight() { m.counters.requests[http.StatusNoContent].Inc() }

// Shed reports a connection that was closed to make room for another.
func (m *Metrics) Shed() { m.counters.shed.Inc() }

// Latency observes the seconds that events wait for the brokers.
func (m *Metrics) Latency() prometheus.Observer { return m.counters.latency }
