package dispatch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/parking"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

const (
	onTwoMinutes  = "webhook-retry.2m"
	onFiveSeconds = "webhook-retry.5s"
)

// retryRoom is a floor with one partition of a retry topic, in virtual time.
type retryRoom struct{ *floor }

func newRetryRoom(t *testing.T, limits quota.Limits) *retryRoom {
	t.Helper()
	r := &retryRoom{floor: newFloor(t, limits)}
	r.Assign(map[string][]int32{onTwoMinutes: {0}, onFiveSeconds: {0}}, nil)
	return r
}

// retryRecord is a record of a retry topic.
func retryRecord(topic, id, name string, offset int64, due time.Duration) *kgo.Record {
	record := &kgo.Record{Topic: topic, Offset: offset, Value: []byte(name), Timestamp: time.Now()}
	kafka.SetHeaders(record, &schemas.Headers{Destination: id, Attempt: 1, FirstAttempt: time.Now(), Due: time.Now().Add(due)})
	return record
}

// wait parks retries of the destination crm on the topic of two minutes, each due
// after a time.
func (r *retryRoom) wait(at int64, dues map[string]time.Duration, names ...string) {
	jobs := make([]*Job, len(names))
	for i, name := range names {
		jobs[i] = NewJob(retryRecord(onTwoMinutes, "crm", name, at+int64(i), dues[name]))
		jobs[i].Read()
	}
	r.Take(partition.Place{Topic: onTwoMinutes, Num: 0}, jobs)
}

// aloft returns which jobs in flight are attempts and which are put back.
func (r *retryRoom) aloft() (attempts, putBack []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.flying {
		if j.slot {
			attempts = append(attempts, string(j.Record.Value))
		} else {
			putBack = append(putBack, string(j.Record.Value))
		}
	}
	return attempts, putBack
}

// pass lets time go by.
func (r *retryRoom) pass(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

// TestARetryThatTheBrokersClockMarks waits for its due time although by the clock of
// its sink, which is hours ahead, it was written long ago; one that is due much later
// waits as long as its topic's delay.
func TestARetryThatTheBrokersClockMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 8, Total: 100})
		for offset, due := range []time.Duration{2 * time.Minute, time.Hour} {
			record := retryRecord(onTwoMinutes, "crm", due.String(), int64(offset), due)
			record.Timestamp = time.Now().Add(-2 * time.Hour)
			record.Attrs = kgo.NewRecordAttrs(kgo.RecordAttrsOpts{TimestampType: 1})
			j := NewJob(record)
			j.Read()
			r.Take(partition.Place{Topic: onTwoMinutes, Num: 0}, []*Job{j})
		}
		r.pass(2*time.Minute - time.Millisecond)
		if attempts, putBack := r.aloft(); len(attempts)+len(putBack) > 0 {
			t.Fatalf("attempts %v, put back %v before their time", attempts, putBack)
		}
		r.pass(time.Millisecond)
		if attempts, putBack := r.aloft(); !slices.Equal(attempts, []string{"2m0s"}) || !slices.Equal(putBack, []string{"1h0m0s"}) {
			t.Errorf("attempts %v, put back %v", attempts, putBack)
		}
	})
}

func TestRetriesStartWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 8, Total: 100})
		r.wait(0, map[string]time.Duration{"a": 150 * time.Second, "b": 90 * time.Second, "c": 120 * time.Second}, "a", "b", "c")
		r.pass(89 * time.Second)
		r.expect()
		r.pass(time.Second)
		r.expect("b")
		r.wait(3, map[string]time.Duration{"d": 10 * time.Second}, "d") // earlier than all that wait
		r.pass(10 * time.Second)
		r.expect("b", "d")
		r.pass(50 * time.Second)
		if diff := cmp.Diff([]string{"b", "d", "c", "a"}, r.started); diff != "" {
			t.Errorf("order of starts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]float64{0, 0, 0, 0}, r.late); diff != "" {
			t.Errorf("seconds late (-want +got):\n%s", diff)
		}
	})
}

func TestARetryOfTheSameKeyNeedNotWaitForTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 8, Total: 100})
		r.own("crm", 0)
		r.give("crm", 0, 0, "a1", "a2")
		r.wait(0, map[string]time.Duration{"a0": time.Minute}, "a0")
		r.pass(time.Minute)
		r.expect("a0", "a1")
	})
}

func TestARetryForNobodyIsNotAttempted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 2, Total: 100})
		unreadable := NewJob(&kgo.Record{Topic: onTwoMinutes, Headers: []kgo.RecordHeader{{Key: "attempt", Value: []byte("x")}}})
		unreadable.Read()
		nobodys := NewJob(&kgo.Record{Topic: onTwoMinutes, Offset: 1})
		nobodys.Read()
		r.Take(partition.Place{Topic: onTwoMinutes, Num: 0}, []*Job{unreadable, nobodys})
		r.pass(0)
		if attempts, putBack := r.aloft(); len(attempts) != 0 || len(putBack) != 2 {
			t.Errorf("%d attempts, %d without a slot; expected two without", len(attempts), len(putBack))
		}
	})
}

// TestARetryDueMuchLaterGoesOn: after its topic's delay it is put on another
// topic, so that it does not take room from those behind it.
func TestARetryDueMuchLaterGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 2, Total: 100})
		r.wait(0, map[string]time.Duration{"far": 2 * time.Hour, "near": 125 * time.Second}, "far", "near")
		r.pass(2 * time.Minute)
		if attempts, putBack := r.aloft(); len(attempts) != 0 || !slices.Equal(putBack, []string{"far"}) {
			t.Errorf("attempts %v, put back %v; expected far to go on", attempts, putBack)
		}
		r.pass(5 * time.Second)
		r.expect("far", "near")
	})
}

// TestARestOfLessThanTheShortestDelayIsWaitedFor: no topic is short enough.
func TestARestOfLessThanTheShortestDelayIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 2, Total: 100})
		j := NewJob(retryRecord(onFiveSeconds, "crm", "a", 0, 8*time.Second))
		j.Read()
		r.Take(partition.Place{Topic: onFiveSeconds, Num: 0}, []*Job{j})
		r.pass(8*time.Second - 1)
		r.expect()
		r.pass(1)
		if attempts, putBack := r.aloft(); len(attempts) != 1 || len(putBack) != 0 {
			t.Errorf("attempts %v, put back %v; expected an attempt", attempts, putBack)
		}
	})
}

func TestAPartitionOfRetriesPausesAndResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 1000, Total: 10_000})
		name := func(i int) string { return string(rune('a' + i%26)) }
		count := parking.High/partition.Overhead + 1
		dues := make(map[string]time.Duration)
		var names []string
		for i := range count {
			dues[name(i)] = time.Minute
			names = append(names, name(i))
		}
		r.wait(0, dues, names...)
		if !r.isPaused("webhook-retry.2m[0]") {
			t.Fatalf("not paused with %d retries of %d bytes and more", count, partition.Overhead)
		}
		r.pass(time.Minute)
		if r.isPaused("webhook-retry.2m[0]") {
			t.Error("stays paused after all that waited was started")
		}
		if got := r.parts[partition.Place{Topic: onTwoMinutes, Num: 0}].parked.Bytes(); got >= parking.Low {
			t.Errorf("%d bytes are still on the partition's account", got)
		}
	})
}

func TestPausedRetriesAreResumedWhenTheirPartitionGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 2, Total: 100})
		dues := map[string]time.Duration{"a": time.Minute}
		names := make([]string, parking.High/partition.Overhead+1)
		for i := range names {
			names[i] = "a"
		}
		r.wait(0, dues, names...)
		gone := map[string][]int32{onTwoMinutes: {0}}
		r.Release(gone)
		if r.isPaused("webhook-retry.2m[0]") {
			t.Error("stays paused, and would for ever")
		}
		r.Forget(gone)
		r.pass(time.Hour)
		r.expect()
	})
}

func TestStopEndsTheTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRetryRoom(t, quota.Limits{Each: 2, Total: 100})
		r.wait(0, map[string]time.Duration{"a": time.Minute, "far": 2 * time.Hour}, "a", "far")
		<-r.Stop()
		r.pass(time.Hour)
		r.wake(r.parts[partition.Place{Topic: onTwoMinutes, Num: 0}]) // a timer that was firing already
		r.expect()
	})
}
