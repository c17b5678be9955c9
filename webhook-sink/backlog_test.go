package webhooksink

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/kafka/groups"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// old makes n events of sixteen kilobytes whose calls were taken so long ago, over two
// partitions, one key each.
func old(n int, ago time.Duration) []*kgo.Record {
	records := make([]*kgo.Record, n)
	for i, messageID := range ids("e", n) {
		records[i] = event("crm", messageID, messageID, int32(i)%2)
		records[i].Value = []byte(strings.Replace(string(records[i].Value), "Tested", strings.Repeat("x", 16<<10), 1))
		kafka.SetHeaders(records[i], &schemas.Headers{
			Source: "website", Type: schemas.TypeTrack, MessageID: messageID, Origin: schemas.OriginAPI,
			Received: time.Now().Add(-ago),
		})
	}
	return records
}

// route writes records in one transaction, as the router does.
func (p *plant) route(records []*kgo.Record) {
	p.t.Helper()
	client := p.cluster.Client(p.t, kgo.TransactionalID("router"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err := client.BeginTransaction(); err != nil {
		p.t.Fatal(err)
	}
	if err := client.ProduceSync(p.t.Context(), records...).FirstErr(); err != nil {
		p.t.Fatal(err)
	}
	if err := client.EndTransaction(p.t.Context(), kgo.TryCommit); err != nil {
		p.t.Fatal(err)
	}
}

// seconds reads an age.
func (r *running) seconds(labels ...string) time.Duration {
	r.t.Helper()
	return time.Duration(r.metric(labels[0], labels[1:]...) * float64(time.Second)).Round(time.Second)
}

// TestTheBacklogOfASlowDestination is right while most of it is not fetched, over a
// restart, and when it is gone.
func TestTheBacklogOfASlowDestination(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, markers = 1000, 2
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		p.route(old(n, time.Hour))
		began := time.Now()
		l := newLedger(4 * time.Second)
		check := func(r *running, what string) {
			t.Helper()
			// What was not fetched yet holds a marker for each partition.
			lag, left := int(r.metric("lag_records", "crm")), n-distinct(l.all())
			if lag < left || lag > left+markers {
				t.Errorf("%s the lag is %d, of %d events that are left", what, lag, left)
			}
			age := r.seconds("oldest_undelivered_seconds", "crm")
			if want := time.Hour + time.Since(began); age < want-time.Second || age > want+time.Second {
				t.Errorf("%s the oldest is %v old, want %v", what, age, want)
			}
		}
		first := p.start(l.attempt, static("one")).ready()
		virtual.Sleep(14 * time.Second) // after a look, and between two attempts
		if paused := first.metric("queue_bytes"); paused < 128<<10 || paused > n/2*(16<<10) {
			t.Errorf("%v bytes are in memory; the test wants some of the events, not all", paused)
		}
		check(first, "while it is slow")
		first.end()
		second := p.start(l.attempt, static("one")).ready()
		virtual.Sleep(2 * time.Second)
		check(second, "after a restart")
		virtual.Sleep(2 * time.Minute)
		if got := distinct(l.all()); got != n {
			t.Fatalf("%d events were delivered, want %d", got, n)
		}
		if lag, age := second.metric("lag_records", "crm"), second.seconds("oldest_undelivered_seconds", "crm"); lag != 0 || age != 0 {
			t.Errorf("at last the lag is %v and the oldest %v old, want none", lag, age)
		}
		lags, err := groups.Lags(t.Context(), p.topics.Client, Group, schemas.DeliverTopic("crm"))
		if err != nil {
			t.Fatal(err)
		}
		for num, lag := range lags[schemas.DeliverTopic("crm")] {
			if lag.Offsets() != 0 {
				t.Errorf("partition %d is committed up to %d, want %d, behind the marker", num, lag.Committed, lag.End)
			}
		}
		second.end()
	})
}

// TestRetriesThatWaitAreSeen by the delay of their topic.
func TestRetriesThatWaitAreSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		l := newLedger(time.Millisecond)
		l.answer = func(_, _ string, attempt int) outcome.Outcome {
			if attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		r := p.start(l.attempt, func(cfg *Config, _ *Settings) { cfg.RetryDelays = []time.Duration{10 * time.Minute} }).ready()
		const n = 50
		p.route(old(n, time.Hour))
		testkit.Until(t, func() bool { return r.metric("deliveries_total", "crm", "retried") == n }, "the first attempts to fail")
		virtual.Sleep(5 * time.Minute)
		if got := r.metric("retries_waiting", "10m"); got != n {
			t.Errorf("%v retries wait, want %d", got, n)
		}
		if age := r.seconds("oldest_retry_seconds", "10m"); age < 5*time.Minute || age > 5*time.Minute+2*time.Second {
			t.Errorf("the first retry waits for %v, want five minutes", age)
		}
		if lag := r.metric("lag_records", "crm"); lag != 0 {
			t.Errorf("the destination's own topic has a lag of %v", lag)
		}
		virtual.Sleep(10 * time.Minute)
		if got := r.metric("deliveries_total", "crm", "delivered"); got != n {
			t.Errorf("%v retries were delivered, want %d", got, n)
		}
		if waiting, age := r.metric("retries_waiting", "10m"), r.seconds("oldest_retry_seconds", "10m"); waiting != 0 || age != 0 {
			t.Errorf("at last %v retries wait, the first for %v", waiting, age)
		}
		if got := r.metric("call_to_delivery_seconds", "retry"); got != n {
			t.Errorf("%v latencies of retries, want %d", got, n)
		}
		r.end()
	})
}

// TestABacklogIsToldOnce: of two sinks each tells what is on its own partitions.
func TestABacklogIsToldOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 200
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		p.write(old(n, time.Minute)...)
		l := newLedger(time.Hour) // nothing is finished meanwhile
		config := func(cfg *Config, _ *Settings) { cfg.Timeout = time.Second }
		first := p.start(l.attempt, config).ready()
		virtual.Sleep(2 * time.Second)
		if lag := first.metric("lag_records", "crm"); lag != n {
			t.Errorf("alone it tells of %v events, want %d", lag, n)
		}
		second := p.start(l.attempt, config).ready()
		testkit.Until(t, func() bool { return second.metric("lag_records", "crm") > 0 }, "the other to get a partition")
		virtual.Sleep(12 * time.Second)
		if a, b := first.metric("lag_records", "crm"), second.metric("lag_records", "crm"); a+b != n || a == 0 || b == 0 {
			t.Errorf("together they tell of %v + %v events, want %d", a, b, n)
		}
		first.end()
		second.end()
	})
}
