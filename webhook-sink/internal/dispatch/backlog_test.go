package dispatch

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

var crm = partition.Place{Topic: schemas.DeliverTopic("crm"), Num: 0}

// receivedAgo hands over records whose calls were taken so long ago, offsets
// counted from at.
func (f *floor) receivedAgo(ago time.Duration, at int64, names ...string) {
	jobs := make([]*Job, len(names))
	for i, name := range names {
		r := &kgo.Record{Topic: crm.Topic, Offset: at + int64(i), Key: []byte(name), Value: []byte(name), Timestamp: time.Now()}
		kafka.SetHeaders(r, &schemas.Headers{Source: "web", Received: time.Now().Add(-ago)})
		jobs[i] = NewJob(r)
	}
	f.Take(crm, jobs)
}

// backlogIs compares the backlog of a partition: how many records, and since when.
func (f *floor) backlogIs(at partition.Place, records int64, age time.Duration) {
	f.t.Helper()
	for _, b := range f.Progress() {
		if b.Topic != at.Topic {
			continue
		}
		old := time.Duration(0)
		if !b.Oldest.IsZero() {
			old = time.Since(b.Oldest)
		}
		if b.Records != records || math.Abs((old-age).Seconds()) > 0.001 {
			f.t.Errorf("%d records, the first %v old, want %d and %v", b.Records, old, records, age)
		}
		return
	}
	if records >= 0 {
		f.t.Errorf("%v is not there, want %d records", at, records)
	}
}

func TestBacklogOfAPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		f.own("crm", 0)
		f.backlogIs(crm, 0, 0)
		f.receivedAgo(time.Hour, 0, "a", "b")
		f.receivedAgo(time.Minute, 2, "c")
		f.Read(crm, 3, 0, 10)
		f.backlogIs(crm, 10, time.Hour)
		f.finish("b") // overtakes
		f.backlogIs(crm, 9, time.Hour)
		f.finish("a")
		f.backlogIs(crm, 8, time.Minute)
		f.finish("c")
		// Nothing is in memory. What is unread was taken after what was read.
		f.backlogIs(crm, 7, time.Minute)
		virtual.Sleep(time.Second)
		f.backlogIs(crm, 7, time.Minute+time.Second)
	})
}

// TestABacklogEndsWithTheMarker: the router writes one behind its events, and an
// idle destination must not look one event behind for ever.
func TestABacklogEndsWithTheMarker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		f.own("crm", 0)
		f.receivedAgo(time.Minute, 0, "a")
		f.Read(crm, 2, 0, 2) // the marker is at 1
		f.backlogIs(crm, 1, time.Minute)
		f.finish("a")
		f.backlogIs(crm, 0, 0)
		if got := f.committable(); got != 2 {
			t.Errorf("committable is %d, want 2, behind the marker", got)
		}
		f.Read(crm, 4, 0, 4) // an aborted transaction: its marker alone comes
		if got := f.committable(); got != 4 {
			t.Errorf("committable is %d, want 4", got)
		}
		select {
		case <-f.Finished():
		default:
			t.Error("nobody is told to commit")
		}
	})
}

// TestTheAgeOfWhatIsNotFetched: of a partition that is paused, or new here, nothing
// is known but what a look at the brokers tells.
func TestTheAgeOfWhatIsNotFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		f.own("crm", 0)
		f.Look(crm, 40, 100)
		f.backlogIs(crm, 60, 0)
		virtual.Sleep(time.Minute)
		f.Look(crm, 40, 130)
		f.backlogIs(crm, 90, time.Minute)
		// The first that is fetched says how old the backlog really is.
		f.receivedAgo(3*time.Hour, 40, "a")
		f.Read(crm, 41, 0, 130)
		f.backlogIs(crm, 90, 3*time.Hour)
		f.finish("a")
		f.backlogIs(crm, 89, 3*time.Hour)
		// All was read, then there was a pause: the next one is young.
		f.Look(crm, 41, 41)
		f.backlogIs(crm, 0, 0)
		virtual.Sleep(time.Hour)
		f.Look(crm, 41, 42)
		f.backlogIs(crm, 1, 0)
	})
}

// TestABacklogThatIsWorkedOffGetsYounger: it is as old as its first event, not as
// long ago as it began.
func TestABacklogThatIsWorkedOffGetsYounger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		f.own("crm", 0)
		for i := range int64(100) {
			f.receivedAgo(10*time.Second, i, "a")
			f.Read(crm, i+1, 0, i+20) // always twenty behind
			f.finish("a")
			f.backlogIs(crm, 19, 10*time.Second)
			virtual.Sleep(time.Minute)
		}
	})
}

func TestWhatWasFinishedBeforeIsNoBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		var tr offsets.Tracker
		for offset := range int64(6) {
			tr.Begin(offset, 0, 0)
		}
		for _, offset := range []int64{2, 3, 5} {
			tr.Finish(offset, 0)
		}
		f.Assign(map[string][]int32{crm.Topic: {0}}, map[partition.Place]offsets.Done{crm: tr.Done()})
		f.Look(crm, 0, 6)
		f.backlogIs(crm, 3, 0)
	})
}

func TestABacklogLeavesWithItsPartition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		f.own("crm", 0)
		f.Look(crm, 0, 50)
		f.backlogIs(crm, 50, 0)
		f.Forget(map[string][]int32{crm.Topic: {0}})
		f.Look(crm, 0, 60) // asked before
		f.Read(crm, 60, 0, 60)
		if all := f.Progress(); len(all) != 0 {
			t.Errorf("backlogs %v of partitions that are somebody else's", all)
		}
		f.own("crm", 0) // and back: what was known is somebody's past
		f.backlogIs(crm, 0, 0)
	})
}

// TestALogThatWasCutHasNoBacklog: what lay behind its new end is gone.
func TestALogThatWasCutHasNoBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		f.own("crm", 0)
		f.receivedAgo(0, 0, "a")
		f.Read(crm, 1, 0, 500)
		f.finish("a")
		f.Look(crm, 1, 1)
		f.backlogIs(crm, 0, 0)
	})
}

// TestRetriesWaitSinceTheyWerePutThere: the call of one that is tried for the last
// time is four hours old, and nothing is late.
func TestRetriesWaitSinceTheyWerePutThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 8, Total: 100})
		at := partition.Place{Topic: onFiveSeconds, Num: 0}
		f.Assign(map[string][]int32{at.Topic: {0}}, nil)
		r := retryRecord(at.Topic, "crm", "a", 0, 0)
		h, err := kafka.HeadersOf(r)
		if err != nil {
			t.Fatal(err)
		}
		h.Received = time.Now().Add(-4 * time.Hour)
		kafka.SetHeaders(r, &h)
		r.Timestamp = time.Now().Add(-time.Second)
		j := NewJob(r)
		j.Read()
		f.Take(at, []*Job{j})
		f.backlogIs(at, 1, time.Second)
	})
}

// topics returns those of some partitions.
func (f *floor) topics(which func(partition.Progress) bool) (topics []string) {
	for _, p := range f.Progress() {
		if which(p) {
			topics = append(topics, p.Topic)
		}
	}
	slices.Sort(topics)
	return slices.Compact(topics)
}

func TestTopicsThatFetchesTellNothingOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 1, Total: 100})
		f.own("crm", 0, 1) // the other partition brings nothing
		f.Look(partition.Place{Topic: crm.Topic, Num: 1}, 0, 0)
		f.own("ads", 0)
		ads := partition.Place{Topic: schemas.DeliverTopic("ads"), Num: 0}
		unwatched := func(want ...string) {
			t.Helper()
			if got := f.topics(func(p partition.Progress) bool { return !p.Watched }); !slices.Equal(got, want) {
				t.Errorf("unwatched are %v, want %v", got, want)
			}
		}
		unwatched(ads.Topic, crm.Topic) // both are new
		f.Look(ads, 5, 5)
		f.Look(crm, 5, 5)
		unwatched()
		f.receivedAgo(0, 5, "a")
		f.Read(crm, 6, 0, 9)
		unwatched(crm.Topic) // behind
		f.Look(crm, 5, 6)
		unwatched()
		for i := int64(6); !f.isPaused(crm.Topic); i++ {
			f.receivedAgo(0, i, string([]byte{byte(i)})) // of so many keys that none is set aside
			f.Read(crm, i+1, 0, i+1)
		}
		f.Read(crm, 2000, 0, 2000)
		unwatched(crm.Topic) // paused
		if got := f.topics(func(partition.Progress) bool { return true }); !slices.Equal(got, []string{ads.Topic, crm.Topic}) {
			t.Errorf("topics %v", got)
		}
	})
}

// BenchmarkBacklogs is what a scrape does under the mutex of the loop.
func BenchmarkBacklogs(b *testing.B) {
	f := newFloor(b, quota.Limits{Each: 8, Total: 100})
	for i := range 10_000 {
		f.own(fmt.Sprint("d", i), 0)
	}
	b.ReportAllocs()
	for b.Loop() {
		f.Progress()
	}
}
