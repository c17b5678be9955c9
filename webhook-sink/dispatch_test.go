package webhooksink

import (
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
)

func TestKeysRunSideBySideAndEachInOrder(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a1", "a2", "b1", "b2", "c1", "a3")
	f.expect("a1", "b1", "c1")
	f.finish("a1")
	f.expect("a2", "b1", "c1")
	f.finish("b1")
	f.finish("a2")
	f.expect("a3", "b2", "c1")
}

func TestADestinationStaysWithinItsLimit(t *testing.T) {
	f := newFloor(t, shares{each: 2, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a", "b", "c")
	f.expect("a", "b")
	f.finish("b")
	f.expect("a", "c")
}

func TestEachDestinationGetsItsTurn(t *testing.T) {
	f := newFloor(t, shares{each: 4, total: 5})
	for _, id := range []string{"x", "y", "z"} {
		f.own(id, 0)
	}
	f.give("x", 0, 0, "a-x", "b-x", "c-x", "d-x")
	f.expect("a-x", "b-x", "c-x") // and no more than what is left for others
	f.give("y", 0, 0, "a-y", "b-y")
	f.give("z", 0, 0, "a-z", "b-z")
	f.expect("a-x", "a-y", "a-z", "b-x", "c-x") // one slot for each, and then none is left
	f.finish("a-x")
	f.expect("a-y", "a-z", "b-x", "c-x") // the free slot is for whoever has none
	f.finish("b-x")
	f.expect("a-y", "a-z", "c-x", "d-x") // all have one, and x is first in line
	f.finish("c-x")
	f.expect("a-y", "a-z", "b-y", "d-x")
	f.finish("d-x")
	f.expect("a-y", "a-z", "b-y", "b-z")
}

func TestWatermarkStopsAtWhatIsUnfinished(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 10, "a", "b", "c")
	f.finish("b")
	f.finish("c")
	if got := f.committable(); got != 10 {
		t.Fatalf("offset %d would be committed while 10 is unfinished", got)
	}
	f.finish("a")
	if got := f.committable(); got != 13 {
		t.Fatalf("offset %d would be committed, expected 13", got)
	}
	f.committed(f.watermarks(nil))
	if got := f.committable(); got != -1 {
		t.Fatalf("offset %d would be committed a second time", got)
	}
}

// TestWhatFinishedBeyondTheWatermarkIsNotRepeated: the next owner of the partition
// works only on what was not finished.
func TestWhatFinishedBeyondTheWatermarkIsNotRepeated(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 10, "a", "b", "c")
	f.finish("b")
	f.finish("c")
	w := f.watermarks(nil)[0]
	next := newFloor(t, shares{each: 8, total: 100})
	next.assign(map[string][]int32{"deliver.crm": {0}}, map[place]offsets.Done{w.part.place: offsets.Decode(w.at.Offset, w.done)})
	next.give("crm", 0, 10, "a", "b", "c", "d")
	next.expect("a", "d")
	next.finish("a")
	next.finish("d")
	if got := next.committable(); got != 14 {
		t.Fatalf("offset %d would be committed, expected 14", got)
	}
}

func TestAnUnfinishedJobHoldsTheWatermark(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a", "b")
	f.done(f.flying[0], false)
	f.done(f.flying[1], true)
	if got := f.committable(); got != 0 {
		t.Fatalf("offset %d would be committed, though 0 was cut short", got)
	}
}

func TestReleaseDropsWhatWaitsAndWaitsForWhatFlies(t *testing.T) {
	f := newFloor(t, shares{each: 2, total: 100})
	f.own("crm", 0, 1)
	f.give("crm", 0, 0, "a", "c")
	f.give("crm", 1, 0, "b", "d")
	gone := map[string][]int32{schemas.DeliverTopic("crm"): {0}}
	f.expect("a", "c")
	idle := f.release(gone)
	f.finish("a")
	f.expect("b", "c")
	select {
	case <-idle[0]:
		t.Fatal("released while c is in flight")
	default:
	}
	f.finish("c")
	<-idle[0]
	f.expect("b", "d")
	if got := f.committable(); got != 2 {
		t.Fatalf("offset %d would be committed, expected 2: both ended before the partition is given up", got)
	}
	f.forget(gone)
	if got := f.committable(); got != -1 {
		t.Fatalf("offset %d would be committed for a partition that is gone", got)
	}
}

func TestReleaseOfAnIdlePartitionIsDoneAtOnce(t *testing.T) {
	f := newFloor(t, shares{each: 2, total: 100})
	f.own("crm", 0)
	for _, idle := range f.release(map[string][]int32{"deliver.crm": {0, 7}, "deliver.unknown": {0}}) {
		<-idle
	}
}

// TestALateCompletionCommitsNothing: the partition was taken away and came back,
// and an attempt of its former life ends.
func TestALateCompletionCommitsNothing(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	gone := map[string][]int32{schemas.DeliverTopic("crm"): {0}}
	f.own("crm", 0)
	f.give("crm", 0, 5, "a")
	f.forget(gone)
	f.own("crm", 0)
	f.finish("a")
	if got := f.committable(); got != -1 {
		t.Fatalf("offset %d would be committed by an attempt of a former assignment", got)
	}
	f.give("crm", 0, 5, "a")
	f.finish("a")
	if got := f.committable(); got != 6 {
		t.Fatalf("offset %d would be committed, expected 6", got)
	}
}

func TestRecordsOfForeignPartitionsAreRefused(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	f.give("crm", 0, 0, "a")
	f.own("crm", 0)
	f.release(map[string][]int32{schemas.DeliverTopic("crm"): {0}})
	f.give("crm", 0, 0, "a")
	f.expect()
}

func TestALogWrittenAnewIsDeliveredAnew(t *testing.T) {
	f := newFloor(t, shares{each: 8, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 7, "a", "b", "c")
	f.finish("a")
	f.committed(f.watermarks(nil))
	f.give("crm", 0, 4, "x") // the broker lost what came after 3
	f.expect("b", "c", "x")
	f.finish("b")
	f.finish("c")
	if got := f.committable(); got != -1 {
		t.Fatalf("offset %d would be committed by records that are gone", got)
	}
	f.finish("x")
	if got := f.committable(); got != 5 {
		t.Fatalf("offset %d would be committed, expected 5", got)
	}
}

func TestAFullQueuePausesItsTopicAlone(t *testing.T) {
	f := newFloor(t, shares{each: 2, total: 100})
	f.own("full", 0)
	f.own("other", 0)
	var names []string
	for n := 0; n*overhead <= maxQueueBytes; n++ {
		names = append(names, "abcdefgh"[n%8:n%8+1]+strconv.Itoa(n))
	}
	f.give("full", 0, 0, names...)
	if !f.paused["deliver.full"] || f.paused["deliver.other"] {
		t.Fatalf("paused: %v, expected deliver.full alone", f.paused)
	}
	for len(f.flying) > 0 && f.paused["deliver.full"] {
		f.end(0)
	}
	if left := testutil.ToFloat64(f.metrics.queued); left > maxQueueBytes/2 || left < maxQueueBytes/2-overhead-64 {
		t.Errorf("resumed with %.0f bytes in the queue, expected just below half of %d", left, maxQueueBytes)
	}
	for len(f.flying) > 0 {
		f.end(0)
	}
	if len(f.started) != len(names) || testutil.ToFloat64(f.metrics.queued) != 0 {
		t.Errorf("%d of %d started, %.0f bytes left", len(f.started), len(names), testutil.ToFloat64(f.metrics.queued))
	}
}

func TestAPausedTopicIsResumedWhenItsPartitionsGo(t *testing.T) {
	f := newFloor(t, shares{each: 2, total: 100})
	f.own("full", 0)
	names := make([]string, maxQueueBytes/overhead+1)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	f.give("full", 0, 0, names...)
	f.forget(map[string][]int32{"deliver.full": {0}})
	if f.paused["deliver.full"] {
		t.Fatal("the topic stays paused, and would for ever")
	}
}

func TestStop(t *testing.T) {
	f := newFloor(t, shares{each: 1, total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a", "b")
	idle := f.stop()
	f.give("crm", 0, 2, "c")
	select {
	case <-idle:
		t.Fatal("idle while a is in flight")
	default:
	}
	f.finish("a")
	<-idle
	f.expect()
	<-f.stop() // again
	if got := f.committable(); got != 1 {
		t.Fatalf("offset %d would be committed, expected 1", got)
	}
}

func TestStopOfAnIdleDispatcher(t *testing.T) {
	<-newFloor(t, shares{each: 1, total: 1}).stop()
}

// BenchmarkDispatch is the way of one event through the dispatcher: taken,
// started, done. A hundred destinations have 64 events in flight or waiting each.
func BenchmarkDispatch(b *testing.B) {
	const destinations = 100
	f := newFloor(b, shares{each: 64, total: 1024})
	var flying []*job
	f.start = func(j *job) { flying = append(flying, j) }
	topics := make([]string, destinations)
	jobs := make([]*job, destinations)
	for i := range destinations {
		id := "destination-" + strconv.Itoa(i)
		f.own(id, 0)
		topics[i] = schemas.DeliverTopic(id)
	}
	keys := make([][]byte, 1000)
	for i := range keys {
		keys[i] = []byte("user-" + strconv.Itoa(i))
	}
	value := make([]byte, 500)
	n := 0
	give := func() {
		i := n % destinations
		jobs[i] = newJob(&kgo.Record{Topic: topics[i], Offset: int64(n), Key: keys[n%len(keys)], Value: value})
		f.take(place{topics[i], 0}, jobs[i:i+1])
		n++
	}
	for range 64 * destinations {
		give()
	}
	b.ReportAllocs()
	for b.Loop() {
		give()
		j := flying[0]
		flying = append(flying[:0], flying[1:]...)
		if next := f.done(j, true); next != nil {
			flying = append(flying, next)
		}
	}
}
