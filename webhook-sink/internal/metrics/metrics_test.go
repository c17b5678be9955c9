package metrics

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/logging"
	"github.com/anabranch/anabranch/internal/telemetry"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/attempt"
	"github.com/anabranch/anabranch/webhook-sink/internal/dispatch"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
	"github.com/anabranch/anabranch/webhook-sink/internal/schedule"
)

var _ attempt.Observer = (*Metrics)(nil)

// desk is Metrics with its log and its series.
type desk struct {
	*Metrics

	t     testing.TB
	books *prometheus.Registry
	log   bytes.Buffer
}

// newDesk returns the metrics of a workspace whose one destination is crm.
func newDesk(tb testing.TB) *desk {
	tb.Helper()
	d := &desk{t: tb, books: prometheus.NewRegistry()}
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	d.Metrics = New(d.books, telemetry.NewDestinations(2, d.books, log), log)
	d.Follow(workspace.NewSnapshot(nil, []workspace.Destination{{ID: "crm"}}))
	return d
}

// job returns a job of a topic, written a second ago, as the dispatcher hands it
// out.
func (d *desk) job(topic string) *dispatch.Job {
	d.t.Helper()
	begun := make(chan *dispatch.Job, 1)
	dispatcher := dispatch.New(dispatch.Options{
		Limits: quota.Limits{Each: 1, Total: 2},
		Gauges: d.Gauges(),
		Start:  func(j *dispatch.Job) { begun <- j },
	})
	at := partition.Place{Topic: topic}
	dispatcher.Assign(map[string][]int32{at.Topic: {at.Num}}, nil)
	j := dispatch.NewJob(&kgo.Record{Topic: at.Topic, Value: []byte("{}"), Timestamp: time.Now().Add(-time.Second)})
	j.Read()
	dispatcher.Take(at, []*dispatch.Job{j})
	return <-begun // a retry's turn comes by a timer
}

// value returns one series, 0 when there is none.
func (d *desk) value(name string, labels ...string) float64 {
	d.t.Helper()
	return testkit.Series(d.t, d.books, "anabranch_webhook_sink_"+name, labels...)
}

func fate(ending schedule.Ending, destination string, reason schemas.Reason) schedule.Fate {
	return schedule.Fate{Ending: ending, Headers: schemas.Headers{Destination: destination, MessageID: "m1", Reason: reason}}
}

// TestEachEndingIsCounted: once, where it belongs, and nowhere else.
func TestEachEndingIsCounted(t *testing.T) {
	t.Parallel()
	all := [][]string{
		{"deliveries_total", "crm", "delivered"},
		{"deliveries_total", "crm", "retried"},
		{"deliveries_total", "crm", "dead"},
		{"dead_letters_total", "status_4xx"},
		{"hops_total"},
		{"call_to_delivery_seconds", "first"},
		{"call_to_delivery_seconds", "retry"},
	}
	for ending, want := range map[schedule.Ending]string{
		schedule.Delivered:  "deliveries_total,crm,delivered call_to_delivery_seconds,first",
		schedule.Retried:    "deliveries_total,crm,retried",
		schedule.Dead:       "deliveries_total,crm,dead dead_letters_total,status_4xx",
		schedule.Hopped:     "hops_total",
		schedule.Withheld:   "",
		schedule.Unfinished: "",
	} {
		d := newDesk(t)
		d.Ended(d.job("deliver.crm"), fate(ending, "crm", schemas.ReasonStatus4xx))
		var counted []string
		for _, series := range all {
			if n := d.value(series[0], series[1:]...); n == 1 {
				counted = append(counted, strings.Join(series, ","))
			} else if n != 0 {
				t.Errorf("ending %d: %v is %v", ending, series, n)
			}
		}
		if got := strings.Join(counted, " "); got != want {
			t.Errorf("ending %d is counted in %q, want %q", ending, got, want)
		}
	}
}

// TestLatencyCountsFromTheCall: not from when the record was written, which for a
// retry is a moment ago.
func TestLatencyCountsFromTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		first, retry := d.job("deliver.crm"), d.job("webhook-retry.5s")
		first.Headers.Received = time.Now().Add(-3 * time.Second)
		retry.Headers.Received = time.Now().Add(-time.Hour)
		d.Ended(first, fate(schedule.Delivered, "crm", ""))
		d.Ended(retry, fate(schedule.Delivered, "crm", ""))
		old, ahead := d.job("deliver.crm"), d.job("deliver.crm")
		ahead.Headers.Received = time.Now().Add(time.Minute)
		age := time.Since(old.Record.Timestamp).Seconds() // written by a release before the header
		d.Ended(old, fate(schedule.Delivered, "crm", ""))
		d.Ended(ahead, fate(schedule.Delivered, "crm", "")) // by a clock that is ahead
		for attempt, want := range map[string]float64{"first": 3 + age, "retry": 3600} {
			if got := d.seconds(attempt); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s attempts took %v s, want %v", attempt, got, want)
			}
		}
	})
}

// seconds is the sum of the latencies of an attempt.
func (d *desk) seconds(attempt string) float64 {
	families, err := d.books.Gather()
	if err != nil {
		d.t.Fatalf("gather: %v", err)
	}
	for _, f := range families {
		if f.GetName() != "anabranch_webhook_sink_call_to_delivery_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			if m.GetLabel()[0].GetValue() == attempt {
				return m.GetHistogram().GetSampleSum()
			}
		}
	}
	return 0
}

// TestAnUnknownDestinationIsNoLabel: ids come from record headers, which say
// whatever they say.
func TestAnUnknownDestinationIsNoLabel(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Ended(d.job("deliver.gone"), fate(schedule.Dead, "gone", schemas.ReasonDestinationRemoved))
	d.Posted("gone", outcome.LabelDelivered)
	d.LeftOut("gone")
	d.Down("gone", 2)
	for _, series := range [][]string{
		{"deliveries_total", "dead"}, {"attempts_total", outcome.LabelDelivered}, {"left_out_total"}, {"endpoints_down"},
	} {
		under := func(id string) []string { return append([]string{id}, series[1:]...) }
		if n := d.value(series[0], under("gone")...); n != 0 {
			t.Errorf("%s has a series of the id: %v", series[0], n)
		}
		if n := d.value(series[0], under("(removed)")...); n == 0 {
			t.Errorf("%s has nothing under (removed)", series[0])
		}
	}
}

// TestAnUnknownReasonIsNoLabel: the header may be that of a later release.
func TestAnUnknownReasonIsNoLabel(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Ended(d.job("webhook-retry.5s"), fate(schedule.Dead, "crm", "moon_phase"))
	if d.value("dead_letters_total", "moon_phase") != 0 || d.value("dead_letters_total", "version_unknown") != 1 {
		t.Error("a word from a header has become a label")
	}
}

// TestADestinationThatWasRemovedKeepsItsLabel: what it left behind ends under its
// own name while the process lives.
func TestADestinationThatWasRemovedKeepsItsLabel(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Follow(workspace.NewSnapshot(nil, nil))
	d.Ended(d.job("deliver.crm"), fate(schedule.Dead, "crm", schemas.ReasonDestinationRemoved))
	if n := d.value("deliveries_total", "crm", "dead"); n != 1 {
		t.Errorf("%v dead under the destination's name, want 1", n)
	}
}

// TestDeadLettersAreLoggedSeldom: the first of a kind, and later how many there
// were in between.
func TestDeadLettersAreLoggedSeldom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk(t)
		j := d.job("deliver.crm")
		for range 3 {
			d.Ended(j, fate(schedule.Dead, "crm", schemas.ReasonStatus4xx))
		}
		d.Ended(j, fate(schedule.Dead, "crm", schemas.ReasonTLS))
		if n := strings.Count(d.log.String(), "event given up"); n != 2 {
			t.Errorf("%d lines for two kinds:\n%s", n, d.log.String())
		}
		virtual.Sleep(logging.Every)
		d.Ended(j, fate(schedule.Dead, "crm", schemas.ReasonStatus4xx))
		if !strings.Contains(d.log.String(), "passed_over=2") {
			t.Errorf("the next line does not say how many were passed over:\n%s", d.log.String())
		}
	})
}

func TestCommitsAndWritesAreCounted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.Committed(nil)
	d.Committed(nil)
	d.Committed(errors.New("broker is gone"))
	d.WriteFailed()
	for series, want := range map[[2]string]float64{{"commits_total", "done"}: 2, {"commits_total", "failed"}: 1} {
		if got := d.value(series[0], series[1]); got != want {
			t.Errorf("%v is %v, want %v", series, got, want)
		}
	}
	if got := d.value("write_errors_total"); got != 1 {
		t.Errorf("write_errors_total is %v, want 1", got)
	}
}

// TestSeriesExistBeforeTheFirstEvent: rates over them see the first event too.
func TestSeriesExistBeforeTheFirstEvent(t *testing.T) {
	t.Parallel()
	families, err := newDesk(t).books.Gather()
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, f := range families {
		count[strings.TrimPrefix(f.GetName(), "anabranch_webhook_sink_")] = len(f.GetMetric())
	}
	for name, want := range map[string]int{
		"deliveries_total":       2 * 3, // of crm, and of removed ones
		"attempts_total":         2 * (1 + len(attemptReasons())),
		"dead_letters_total":     len(schemas.Reasons()),
		"commits_total":          2,
		"hops_total":             1,
		"write_errors_total":     1,
		"in_flight":              1,
		"queue_bytes":            1,
		"retry_lateness_seconds": 1,
		"retries_due":            1,
		"left_out_total":         2,
		"endpoints_down":         2,
		"breakers":               3,

		"call_to_delivery_seconds":   2,
		"lag_records":                1,
		"oldest_undelivered_seconds": 1,
	} {
		if count[name] != want {
			t.Errorf("%s has %d series, expected %d", name, count[name], want)
		}
	}
}
