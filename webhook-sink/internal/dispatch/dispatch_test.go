package dispatch

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

func TestKeysRunSideBySideAndEachInOrder(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
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
	f := newFloor(t, quota.Limits{Each: 2, Total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a", "b", "c")
	f.expect("a", "b")
	f.finish("b")
	f.expect("a", "c")
}

func TestEachDestinationGetsItsTurn(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 4, Total: 5})
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
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
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
	f.Committed(f.Watermarks(nil))
	if got := f.committable(); got != -1 {
		t.Fatalf("offset %d would be committed a second time", got)
	}
}

// TestWhatFinishedBeyondTheWatermarkIsNotRepeated: the next owner of the partition
// works only on what was not finished.
func TestWhatFinishedBeyondTheWatermarkIsNotRepeated(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 10, "a", "b", "c")
	f.finish("b")
	f.finish("c")
	w := f.Watermarks(nil)[0]
	next := newFloor(t, quota.Limits{Each: 8, Total: 100})
	next.Assign(map[string][]int32{"deliver.crm": {0}}, map[partition.Place]offsets.Done{w.Place: offsets.Decode(w.At.Offset, w.Done)})
	next.give("crm", 0, 10, "a", "b", "c", "d")
	next.expect("a", "d")
	next.finish("a")
	next.finish("d")
	if got := next.committable(); got != 14 {
		t.Fatalf("offset %d would be committed, expected 14", got)
	}
}

func TestAnUnfinishedJobHoldsTheWatermark(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a", "b")
	f.Done(f.flying[0], outcome.Outcome{Verdict: outcome.Abandoned})
	f.Done(f.flying[1], outcome.Outcome{Verdict: outcome.Retry})
	if got := f.committable(); got != 0 {
		t.Fatalf("offset %d would be committed, though 0 was cut short", got)
	}
}

func TestReleaseDropsWhatWaitsAndWaitsForWhatFlies(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 2, Total: 100})
	f.own("crm", 0, 1)
	f.give("crm", 0, 0, "a", "c")
	f.give("crm", 1, 0, "b", "d")
	gone := map[string][]int32{schemas.DeliverTopic("crm"): {0}}
	f.expect("a", "c")
	idle := f.Release(gone)
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
	f.Forget(gone)
	if got := f.committable(); got != -1 {
		t.Fatalf("offset %d would be committed for a partition that is gone", got)
	}
}

func TestReleaseOfAnIdlePartitionIsDoneAtOnce(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 2, Total: 100})
	f.own("crm", 0)
	for _, idle := range f.Release(map[string][]int32{"deliver.crm": {0, 7}, "deliver.unknown": {0}}) {
		<-idle
	}
}

// TestALateCompletionCommitsNothing: the partition was taken away and came back,
// and an attempt of its former life ends.
func TestALateCompletionCommitsNothing(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	gone := map[string][]int32{schemas.DeliverTopic("crm"): {0}}
	f.own("crm", 0)
	f.give("crm", 0, 5, "a")
	f.Forget(gone)
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
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	f.give("crm", 0, 0, "a")
	f.own("crm", 0)
	f.Release(map[string][]int32{schemas.DeliverTopic("crm"): {0}})
	f.give("crm", 0, 0, "a")
	f.expect()
}

func TestALogWrittenAnewIsDeliveredAnew(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 7, "a", "b", "c")
	f.finish("a")
	f.Committed(f.Watermarks(nil))
	f.give("crm", 0, 4, "x") // the broker lost what came after 3
	f.expect("b", "c", "x")
	f.finish("b")
	f.finish("c")
	if got := f.committable(); got != 4 {
		t.Fatalf("offset %d would be committed, expected 4: the records behind it are gone", got)
	}
	f.finish("x")
	if got := f.committable(); got != 5 {
		t.Fatalf("offset %d would be committed, expected 5", got)
	}
}

// TestALogWrittenAnewFromTheMiddle: what waits below the cut, for minutes on a retry
// topic, is still to be delivered.
func TestALogWrittenAnewFromTheMiddle(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 10, "a", "b", "c", "d", "e")
	f.give("crm", 0, 13, "x", "y") // the broker lost what came after 12
	f.expect("a", "b", "c", "d", "e", "x", "y")
	for _, name := range []string{"x", "y", "d"} {
		f.finish(name)
	}
	for offset, name := range []string{"a", "b", "c"} {
		if got := f.committable(); got != 10+int64(offset) {
			t.Fatalf("offset %d would be committed, expected that of %s, which is unfinished", got, name)
		}
		f.finish(name)
	}
	if got := f.committable(); got != 15 {
		t.Fatalf("offset %d would be committed, expected 15", got)
	}
}

// fill gives a destination records until its topic pauses, and returns how many.
func (f *floor) giveUntilPaused(id string) int {
	f.t.Helper()
	for n := range 100_000 {
		if f.paused[schemas.DeliverTopic(id)] {
			return n
		}
		f.give(id, 0, int64(n), "abcdefgh"[n%8:n%8+1]+strconv.Itoa(n))
	}
	f.t.Fatal("never pauses")
	return 0
}

func TestAFullQueuePausesItsTopicAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 2, Total: 100})
		f.own("full", 0)
		f.own("other", 0)
		given := f.giveUntilPaused("full")
		if f.paused["deliver.other"] {
			t.Fatalf("paused: %v, expected deliver.full alone", f.paused)
		}
		for len(f.flying) > 0 && f.paused["deliver.full"] {
			virtual.Sleep(time.Second) // the slower, the sooner the lowest mark
			f.end(0)
		}
		const minLow = 64 << 10 // where a topic resumes whose destination is slow
		if left := testutil.ToFloat64(f.Gauges.Queued); left >= minLow || left < minLow-partition.Overhead-64 {
			t.Errorf("resumed with %.0f bytes in the queue, expected just below %d", left, minLow)
		}
		for len(f.flying) > 0 {
			f.end(0)
		}
		if len(f.started) != given || testutil.ToFloat64(f.Gauges.Queued) != 0 {
			t.Errorf("%d of %d started, %.0f bytes left", len(f.started), given, testutil.ToFloat64(f.Gauges.Queued))
		}
	})
}

// TestTheMemoryIsSharedByTheTopicsThatFeed: not by those of which nothing came
// yet, nor by destinations of which only retries are here.
func TestTheMemoryIsSharedByTheTopicsThatFeed(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 64, Total: 1000})
	expect := func(topics int) {
		t.Helper()
		high, _ := f.queues.Marks(f.queues.Of("d0"))
		if want, _ := new(quota.Speed).Marks(topics, 64, fetchWait); high != want {
			t.Errorf("a topic pauses at %d bytes, expected %d as one of %d", high, want, topics)
		}
	}
	for i := range 100 {
		id := "d" + strconv.Itoa(i)
		f.own(id, 0, 1, 2)
		f.give(id, 0, 0, "a")
		f.give(id, 1, 0, "b")
	}
	f.own("silent", 0)
	f.queues.Of("only-retries")
	expect(100)
	for i := 1; i < 80; i++ {
		f.Forget(map[string][]int32{schemas.DeliverTopic("d" + strconv.Itoa(i)): {0, 1, 2}})
	}
	f.Forget(map[string][]int32{"deliver.d0": {0}}) // and still has another
	expect(21)
}

func TestAPausedTopicIsResumedWhenItsPartitionsGo(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 2, Total: 100})
	f.own("full", 0)
	f.giveUntilPaused("full")
	f.Forget(map[string][]int32{"deliver.full": {0}})
	if f.paused["deliver.full"] {
		t.Fatal("the topic stays paused, and would for ever")
	}
}

func TestStop(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 1, Total: 100})
	f.own("crm", 0)
	f.give("crm", 0, 0, "a", "b")
	idle := f.Stop()
	f.give("crm", 0, 2, "c")
	select {
	case <-idle:
		t.Fatal("idle while a is in flight")
	default:
	}
	f.finish("a")
	<-idle
	f.expect()
	<-f.Stop() // again
	if got := f.committable(); got != 1 {
		t.Fatalf("offset %d would be committed, expected 1", got)
	}
}

func TestHoldsKnowsWhatIsOurs(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	gone := map[string][]int32{schemas.DeliverTopic("crm"): {0}}
	f.own("crm", 0, 1)
	f.give("crm", 0, 0, "a")
	f.finish("a")
	all := f.Watermarks(nil)
	if !f.Holds(all) {
		t.Error("holds nothing of what it was assigned")
	}
	f.Forget(gone)
	f.own("crm", 0)
	if f.Holds(all) {
		t.Error("holds a watermark of a former assignment")
	}
}

// Retries counts the partitions of retry topics that are ours.
func (f *floor) Retries() int {
	n := 0
	for _, p := range f.Progress() {
		if p.Destination == "" {
			n++
		}
	}
	return n
}

func TestRetriesCountsPartitionsOfRetryTopics(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 8, Total: 100})
	f.own("crm", 0, 1)
	f.Assign(map[string][]int32{onTwoMinutes: {0, 3}, onFiveSeconds: {1}}, nil)
	if got := f.Retries(); got != 3 {
		t.Errorf("%d, expected 3", got)
	}
	f.Forget(map[string][]int32{onTwoMinutes: {3}})
	if got := f.Retries(); got != 2 {
		t.Errorf("%d after one was taken away, expected 2", got)
	}
}

func TestStopOfAnIdleDispatcher(t *testing.T) {
	<-newFloor(t, quota.Limits{Each: 1, Total: 1}).Stop()
}

// BenchmarkDispatch is the way of one event through the dispatcher: taken,
// started, done. A hundred destinations have 64 events in flight or waiting each.
func BenchmarkDispatch(b *testing.B) {
	const destinations = 100
	f := newFloor(b, quota.Limits{Each: 64, Total: 1024})
	flying := make(chan *Job, 1024)
	f.Start = func(j *Job) { flying <- j }
	topics := make([]string, destinations)
	jobs := make([]*Job, destinations)
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
		jobs[i] = NewJob(&kgo.Record{Topic: topics[i], Offset: int64(n), Key: keys[n%len(keys)], Value: value})
		f.Take(partition.Place{Topic: topics[i], Num: 0}, jobs[i:i+1])
		n++
	}
	for range 64 * destinations {
		give()
	}
	b.ReportAllocs()
	for b.Loop() {
		give()
		if next := f.Done(<-flying, delivered); next != nil {
			flying <- next
		}
	}
}
