package webhooksink

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
)

const onTwoMinutes = "webhook-retry.2m"

// retryRoom is a floor with one partition of a retry topic, in virtual time.
type retryRoom struct{ *floor }

func newRetryRoom(t *testing.T, limits shares) *retryRoom {
	t.Helper()
	r := &retryRoom{floor: newFloor(t, limits)}
	r.assign(map[string][]int32{onTwoMinutes: {0}}, nil)
	return r
}

// retryRecord is a record of a retry topic.
func retryRecord(topic, id, name string, offset int64, due time.Duration) *kgo.Record {
	record := &kgo.Record{Topic: topic, Offset: offset, Value: []byte(name), Timestamp: time.Now()}
	kafka.SetHeaders(record, &schemas.Headers{Destination: id, Attempt: 1, FirstAttempt: time.Now(), Due: time.Now().Add(due)})
	return record
}

// wait parks retries of one destination, each due after a time.
func (r *retryRoom) wait(id string, at int64, dues map[string]time.Duration, names ...string) {
	var jobs []*job
	for i, name := range names {
		j := newJob(retryRecord(onTwoMinutes, id, name, at+int64(i), dues[name]))
		j.read()
		jobs = append(jobs, j)
	}
	r.take(place{onTwoMinutes, 0}, jobs)
}

// pass lets time go by.
func (r *retryRoom) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestRetriesStartWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 8, total: 100})
		r.wait("crm", 0, map[string]time.Duration{"a": 150 * time.Second, "b": 90 * time.Second, "c": 120 * time.Second}, "a", "b", "c")
		r.pass(89 * time.Second)
		r.expect()
		r.pass(time.Second)
		r.expect("b")
		r.wait("crm", 3, map[string]time.Duration{"d": 10 * time.Second}, "d") // earlier than all that wait
		r.pass(10 * time.Second)
		r.expect("b", "d")
		r.pass(50 * time.Second)
		if diff := cmp.Diff([]string{"b", "d", "c", "a"}, r.started); diff != "" {
			t.Errorf("order of starts (-want +got):\n%s", diff)
		}
		if n := testutil.CollectAndCount(r.metrics.lateness); n != 1 {
			t.Errorf("%d lateness histograms, expected 1", n)
		}
	})
}

func TestARetryOfTheSameKeyNeedNotWaitForTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 8, total: 100})
		r.own("crm", 0)
		r.give("crm", 0, 0, "a1", "a2")
		r.wait("crm", 0, map[string]time.Duration{"a0": time.Minute}, "a0")
		r.pass(time.Minute)
		r.expect("a0", "a1")
	})
}

// TestARetryWithoutASlotIsPutBackAtOnce: whatever its destination does, what is
// behind it in the log goes on.
func TestARetryWithoutASlotIsPutBackAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 2, total: 100})
		same := map[string]time.Duration{"a": time.Minute, "b": time.Minute, "c": time.Minute, "x": time.Minute}
		r.wait("hung", 0, same, "a", "b", "c")
		r.wait("well", 3, same, "x")
		r.pass(time.Minute)
		var attempts, putBack []string
		for _, j := range r.flying {
			if j.attempt {
				attempts = append(attempts, string(j.record.Value))
			} else {
				putBack = append(putBack, string(j.record.Value))
			}
		}
		if len(attempts) != 2 || len(putBack) != 2 || r.inFlight != 2 {
			t.Errorf("attempts %v, put back %v, %d slots taken; expected one attempt each and two put back", attempts, putBack, r.inFlight)
		}
	})
}

func TestARetryForNobodyIsNotAttempted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 2, total: 100})
		unreadable := newJob(&kgo.Record{Topic: onTwoMinutes, Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("x")}}})
		unreadable.read()
		nobodys := newJob(&kgo.Record{Topic: onTwoMinutes, Offset: 1})
		nobodys.read()
		r.take(place{onTwoMinutes, 0}, []*job{unreadable, nobodys})
		r.pass(0)
		if len(r.flying) != 2 || r.flying[0].attempt || r.flying[1].attempt {
			t.Errorf("%d jobs, expected two without a slot", len(r.flying))
		}
	})
}

// TestARetryDueMuchLaterGoesOn: after its topic's delay it is put on another
// topic, so that it does not take room from those behind it.
func TestARetryDueMuchLaterGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 2, total: 100})
		r.wait("crm", 0, map[string]time.Duration{"far": 2 * time.Hour, "near": 125 * time.Second}, "far", "near")
		r.pass(2 * time.Minute)
		r.expect("far")
		if r.flying[0].attempt {
			t.Error("attempted two hours early")
		}
		r.pass(5 * time.Second)
		r.expect("far", "near")
	})
}

// TestARestOfLessThanTheShortestDelayIsWaitedFor: no topic is short enough.
func TestARestOfLessThanTheShortestDelayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 2, total: 100})
		r.wait("crm", 0, map[string]time.Duration{"a": 4 * time.Minute}, "a")
		j := r.parts[place{onTwoMinutes, 0}].waiting[0]
		j.turn = time.Now().Add(4*time.Minute - 4*time.Second)
		r.pass(4*time.Minute - time.Second)
		r.expect()
		r.pass(time.Second)
		r.expect("a")
		if !r.flying[0].attempt {
			t.Error("put on another topic, expected an attempt")
		}
	})
}

func TestAPartitionOfRetriesPausesAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 1000, total: 10_000})
		name := func(i int) string { return string(rune('a' + i%26)) }
		count := parkHigh/overhead + 1
		dues := make(map[string]time.Duration)
		var names []string
		for i := range count {
			dues[name(i)] = time.Minute
			names = append(names, name(i))
		}
		r.wait("crm", 0, dues, names...)
		if !r.isPaused("{webhook-retry.2m 0}") {
			t.Fatalf("not paused with %d retries of %d bytes and more", count, overhead)
		}
		r.pass(time.Minute)
		if r.isPaused("{webhook-retry.2m 0}") {
			t.Error("stays paused after all that waited was started")
		}
		if got := r.parts[place{onTwoMinutes, 0}].parked; got >= parkLow {
			t.Errorf("%d bytes are still on the partition's account", got)
		}
	})
}

func TestPausedRetriesAreResumedWhenTheirPartitionGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 2, total: 100})
		dues := map[string]time.Duration{"a": time.Minute}
		names := make([]string, parkHigh/overhead+1)
		for i := range names {
			names[i] = "a"
		}
		r.wait("crm", 0, dues, names...)
		gone := map[string][]int32{onTwoMinutes: {0}}
		r.release(gone)
		if r.isPaused("{webhook-retry.2m 0}") {
			t.Error("stays paused, and would for ever")
		}
		r.forget(gone)
		r.pass(time.Hour)
		r.expect()
	})
}

func TestStopEndsTheTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, shares{each: 2, total: 100})
		r.wait("crm", 0, map[string]time.Duration{"a": time.Minute}, "a")
		<-r.stop()
		r.wake(r.parts[place{onTwoMinutes, 0}]) // a timer that was firing already
		r.pass(time.Hour)
		r.expect()
	})
}
