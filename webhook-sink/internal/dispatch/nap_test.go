package dispatch

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// The pace of a destination that has just recovered allows one retry a second: in
// between its queue naps, whatever happens.

func TestRetriesStartOneByOneAfterAnOutage(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 8, Total: 100}, func(r *retryRoom) {
		r.outage()
		r.at(0, "crm", 0, 5, nil)
		r.pass(0)
		r.expect("crm0")
		r.pass(800 * time.Millisecond)
		r.expect("crm0")
		r.pass(200 * time.Millisecond)
		r.expect("crm0", "crm1")
		r.pass(10 * time.Second)
		r.expect("crm0", "crm1", "crm2", "crm3") // half of the slots
		r.finish("crm2")
		r.expect("crm0", "crm1", "crm3", "crm4")
	})
}

func TestFirstAttemptsGoOnWhileRetriesNap(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		r.outage()
		r.at(0, "crm", 0, 2, nil)
		r.pass(0)
		r.finish("crm0")
		r.give("crm", 0, 2, "a", "b", "c")
		r.expect("a", "b")
		r.finish("a")
		r.expect("b", "c")
		r.finish("b")
		r.pass(time.Second)
		r.expect("c", "crm1")
	})
}

func TestAPartitionThatGoesWhileItsRetriesNap(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 8, Total: 100}, func(r *retryRoom) {
		r.outage()
		r.at(0, "crm", 0, 3, nil)
		r.pass(0)
		gone := map[string][]int32{onTwoMinutes: {0}}
		idle := r.Release(gone)
		r.finish("crm0")
		<-idle[0]
		r.Forget(gone)
		if waiting := testutil.ToFloat64(r.Gauges.Due); waiting != 0 || r.queues.DueBytes != 0 {
			t.Errorf("%v retries and %d bytes are left on the accounts", waiting, r.queues.DueBytes)
		}
		r.Assign(gone, nil)
		r.at(0, "crm", 1, 2, nil)
		r.pass(0)
		r.expect()
		r.pass(time.Second)
		r.expect("crm1")
		r.pass(time.Second)
		r.expect("crm1", "crm2")
	})
}

// TestRetriesOfOtherPartitionsStay: only those of the partition that goes are
// dropped.
func TestRetriesOfOtherPartitionsStay(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		r.at(0, "crm", 0, 3, nil)
		r.pass(0)
		other := NewJob(retryRecord(onFiveSeconds, "crm", "other", 0, 0))
		other.Read()
		r.Take(partition.Place{Topic: onFiveSeconds, Num: 0}, []*Job{other})
		r.pass(0)
		r.Forget(map[string][]int32{onTwoMinutes: {0}})
		if waiting := testutil.ToFloat64(r.Gauges.Due); waiting != 1 {
			t.Errorf("%v retries wait, expected 1", waiting)
		}
		r.end(0)
		r.expect("other")
	})
}

func TestNothingStartsAfterAStopInANap(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 8, Total: 100}, func(r *retryRoom) {
		r.outage()
		r.at(0, "crm", 0, 2, nil)
		r.pass(0)
		idle := r.Stop()
		r.finish("crm0")
		<-idle
		r.pass(time.Hour)
		r.expect()
	})
}

// TestANewOutageEndsTheNapInTime: the timer of the old ramp still fires, and what
// waits is then withheld without delay.
func TestANewOutageEndsTheNapInTime(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 8, Total: 100}, func(r *retryRoom) {
		r.outage()
		r.pass(20 * time.Second) // long enough to be another one
		r.at(0, "crm", 0, 5, nil)
		r.pass(0)
		r.endAs(0, outcome.Outcome{Verdict: outcome.Withheld})
		r.pass(time.Second)
		r.expect("crm1", "crm2", "crm3", "crm4")
	})
}

func TestAShareOfTheGroupsRetries(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 8, Total: 100}, func(r *retryRoom) {
		r.SetShare(0.5)
		r.outage()
		r.at(0, "crm", 0, 2, nil)
		r.pass(1500 * time.Millisecond)
		r.expect("crm0") // half a retry a second
		r.pass(500 * time.Millisecond)
		r.expect("crm0", "crm1")
	})
}
