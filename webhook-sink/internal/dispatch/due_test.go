package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
	"github.com/anabranch/anabranch/webhook-sink/internal/parking"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// inRetryRoom runs a test in virtual time.
func inRetryRoom(t *testing.T, limits quota.Limits, f func(*retryRoom)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newRetryRoom(t, limits)) })
}

// at parks n retries of a destination that are due after a time. Their names
// are the destination's and a number, which is also their offset.
func (r *retryRoom) at(due time.Duration, id string, from, n int, change func(*kgo.Record, *Job)) {
	jobs := make([]*Job, n)
	for i := range jobs {
		record := retryRecord(onTwoMinutes, id, id+strconv.Itoa(from+i), int64(from+i), due)
		jobs[i] = NewJob(record)
		jobs[i].Read()
		if change != nil {
			change(record, jobs[i])
		}
	}
	r.Take(partition.Place{Topic: onTwoMinutes, Num: 0}, jobs)
}

// large makes a retry as large as a MiB.
func large(record *kgo.Record, j *Job) { j.size = 1 << 20 }

func reservedBefore(_ *kgo.Record, j *Job) { j.Headers.Reserved = true }

// outage lets the destination crm have one that ends now: its retries begin at one
// a second.
func (r *retryRoom) outage() {
	r.down()
	r.end(0)
}

// down lets crm be down for half an hour. What is in flight then is the first
// attempt that shows that it is back.
func (r *retryRoom) down() {
	r.own("crm", 0)
	r.give("crm", 0, 0, "out", "up")
	r.endAs(0, outcome.Outcome{Verdict: outcome.Withheld})
	r.pass(30 * time.Minute)
}

func TestADueRetryWaitsForASlotAndTakesTheFirst(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		r.at(time.Minute, "hung", 0, 3, nil)
		r.at(time.Minute, "well", 3, 1, nil)
		r.pass(time.Minute)
		r.expect("hung0", "well3")
		if waiting := testutil.ToFloat64(r.Gauges.Due); waiting != 2 {
			t.Errorf("%v wait, expected 2", waiting)
		}
		r.pass(5 * time.Second)
		r.finish("hung0")
		r.expect("hung1", "well3")
		r.finish("hung1")
		r.expect("hung2", "well3")
		if !slices.Equal(r.late, []float64{0, 0, 5, 5}) {
			t.Errorf("late by %v seconds, expected 5 for those that waited", r.late)
		}
	})
}

func TestFirstAttemptsGetAllSlotsWhileNoRetryIsDue(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 4, Total: 100}, func(r *retryRoom) {
		r.own("crm", 0)
		r.at(time.Minute, "crm", 0, 1, nil)
		r.give("crm", 0, 0, "a", "b", "c", "d", "e")
		r.expect("a", "b", "c", "d")
		r.pass(time.Minute)
		r.finish("a")
		r.expect("b", "c", "crm0", "d") // and when one is, it comes next
	})
}

// TestBacklogsOfBothKindsTakeTurns: neither keeps the other from its slots, not
// even where there is only one.
func TestBacklogsOfBothKindsTakeTurns(t *testing.T) {
	for _, test := range []struct {
		limits quota.Limits
		others int // that hang
	}{
		{quota.Limits{Each: 1, Total: 100}, 0},
		{quota.Limits{Each: 2, Total: 100}, 0},
		{quota.Limits{Each: 8, Total: 100}, 0},
		{quota.Limits{Each: 8, Total: 8}, 3}, // which leave one slot
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			inRetryRoom(t, test.limits, func(r *retryRoom) {
				for i := range test.others {
					id := "hung" + strconv.Itoa(i)
					r.own(id, 0)
					r.give(id, 0, 0, "a", "b", "c")
				}
				held := len(r.flying)
				r.own("crm", 0)
				for i := range 90 {
					r.give("crm", 0, int64(i), string(rune('!'+i))) // a key each
				}
				r.at(time.Minute, "crm", 0, 100, nil)
				r.pass(time.Minute)
				r.started = nil
				for range 60 {
					r.end(held)
				}
				retries := 0
				for _, name := range r.started {
					if len(name) > 1 {
						retries++
					}
				}
				if retries < 25 || retries > 35 {
					t.Errorf("%d of 60 slots went to retries, expected about half", retries)
				}
			})
		})
	}
}

// TestWhatFindsNoRoomIsPutBackForAMomentOfItsOwn: after an outage few may wait,
// since few start; the moments that the others get are later and later.
func TestWhatFindsNoRoomIsPutBackForAMomentOfItsOwn(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 64, Total: 1000}, func(r *retryRoom) {
		r.down()
		r.at(time.Minute, "crm", 0, 10, reservedBefore)
		r.at(time.Minute, "crm", 10, 20, nil)
		r.at(time.Minute, "crm", 30, 5, reservedBefore)
		r.pass(time.Minute - 1)
		r.end(0)
		r.pass(1)
		attempts, putBack := r.aloft()
		if len(attempts) != 1 || len(putBack) != 14 {
			t.Fatalf("%d attempts, %d put back; expected the first to start, 16 to wait as well as those with a reservation, and 14 to go", len(attempts), len(putBack))
		}
		last := time.Now().Add(shortest)
		for _, j := range r.flying {
			if at := j.Case().Reserved; j.slot != at.IsZero() || !j.slot && !at.After(last) {
				t.Errorf("%s: slot %t, reserved %s", j.Record.Value, j.slot, at)
			} else if !j.slot {
				last = at
			}
		}
	})
}

func TestAThousandRetriesOfADestinationWaitAtMost(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		r.at(time.Minute, "hung", 0, queues.MaxDue+11, reservedBefore)
		r.pass(time.Minute)
		if attempts, putBack := r.aloft(); len(attempts) != 1 || len(putBack) != 11 {
			t.Errorf("%d attempts, %d put back; expected 1 and 11", len(attempts), len(putBack))
		}
		if waiting := testutil.ToFloat64(r.Gauges.Due); waiting != queues.MaxDue-1 {
			t.Errorf("%v wait, expected %d less the one that started", waiting, queues.MaxDue)
		}
	})
}

// TestRetriesThatWaitStayWithinTheirMemory: destinations that hang fill it, and
// still leave some to others, which without any would have to put back what could
// start.
func TestRetriesThatWaitStayWithinTheirMemory(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		for i, id := range []string{"hung", "dead", "gone"} {
			r.at(time.Minute, id, 3*i, 1, nil) // takes its slot
			r.at(2*time.Minute, id, 100+100*i, 100, large)
		}
		r.pass(2 * time.Minute)
		if r.queues.DueBytes > queues.MaxDueBytes || r.queues.DueBytes < queues.MaxDueBytes/2 {
			t.Errorf("%d bytes wait, expected at most %d and more than half", r.queues.DueBytes, queues.MaxDueBytes)
		}
		r.at(0, "well", 1000, 3, nil)
		r.pass(0)
		attempts, putBack := r.aloft()
		if !slices.Contains(attempts, "well1000") || slices.Contains(putBack, "well1001") || slices.Contains(putBack, "well1002") {
			t.Errorf("attempts %v; expected well1000 to start and the two behind it to wait", attempts)
		}
	})
}

// TestAFreeSlotNeedsNoMemory: with all of it taken by others, a large retry
// starts as long as there is a slot.
func TestAFreeSlotNeedsNoMemory(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 1000}, func(r *retryRoom) {
		for i := range 30 {
			r.at(time.Minute, "hung"+strconv.Itoa(i), i*10, 10, large)
		}
		r.at(time.Minute, "well", 1000, 1, large)
		r.pass(time.Minute)
		if attempts, _ := r.aloft(); !slices.Contains(attempts, "well1000") {
			t.Errorf("attempts %v; expected one of well too", attempts)
		}
		if most := queues.MaxDueBytes + 31<<20; r.queues.DueBytes > most {
			t.Errorf("%d bytes wait, expected at most %d", r.queues.DueBytes, most)
		}
	})
}

// TestADestinationThatHangsDelaysNobodyElsesRetries: what of it is due and waits
// takes nothing from the partition that brought it.
func TestADestinationThatHangsDelaysNobodyElsesRetries(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 64, Total: 1024}, func(r *retryRoom) {
		const backlog = 500 // more than a partition holds before it pauses
		r.at(time.Minute, "hung", 0, backlog, nil)
		r.pass(time.Minute)
		if r.isPaused("webhook-retry.2m[0]") {
			t.Fatal("the partition is paused")
		}
		if got := r.parts[partition.Place{Topic: onTwoMinutes, Num: 0}].parked.Bytes(); got != 0 {
			t.Errorf("%d bytes are on the partition's account", got)
		}
		for i := range 50 {
			r.at(10*time.Second, "well", backlog+i, 1, nil)
			r.pass(10 * time.Second)
			r.finish("well" + strconv.Itoa(backlog+i))
		}
		for i, late := range r.late {
			if late != 0 {
				t.Errorf("start %d is %v seconds late", i, late)
			}
		}
	})
}

// TestAPartitionKeepsFewUnfinished: what is finished between its unfinished records
// must fit into the metadata of a commit, or a clean stop repeats it.
func TestAPartitionKeepsFewUnfinished(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		r.at(time.Minute, "one", 0, queues.MaxDue, reservedBefore)
		r.at(time.Minute, "two", queues.MaxDue, queues.MaxDue, reservedBefore)
		r.pass(time.Minute)
		attempts, putBack := r.aloft()
		if len(attempts) != 2 || len(putBack) != 2*queues.MaxDue-maxAloft {
			t.Errorf("%d attempts, %d put back; expected 2, and %d to stay", len(attempts), len(putBack), maxAloft)
		}
		for range maxAloft {
			r.end(slices.IndexFunc(r.flying, func(j *Job) bool { return j.slot }))
		}
		if p := r.parts[partition.Place{Topic: onTwoMinutes, Num: 0}]; p.aloft != 0 {
			t.Errorf("%d are on the partition's account after all have ended", p.aloft)
		}
	})
}

// TestWhatIsPutBackLateResumesNothing: its partition was taken away meanwhile, and
// may be somebody else's pause by now.
func TestWhatIsPutBackLateResumesNothing(t *testing.T) {
	inRetryRoom(t, quota.Limits{Each: 2, Total: 100}, func(r *retryRoom) {
		count := 2*(parking.High/partition.Overhead) + 2
		far := func(_ *kgo.Record, j *Job) { j.Headers.Due = time.Now().Add(time.Hour) }
		r.at(time.Minute, "crm", 0, count, far)
		r.pass(2 * time.Minute) // all are being put on another topic
		r.Forget(map[string][]int32{onTwoMinutes: {0}})
		for len(r.flying) > 0 {
			r.end(0) // fails the test if it resumes what is not paused
		}
	})
}
