package dispatch

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/queues"
	"github.com/anabranch/anabranch/webhook-sink/internal/quota"
)

// userRecord is one of deliver.crm[0]; its value is its offset.
func userRecord(user string, offset int64) *kgo.Record {
	return &kgo.Record{Topic: crm.Topic, Offset: offset, Key: []byte(user), Value: fmt.Append(nil, offset)}
}

// usersLog makes a log of n records, of users in turn, of whom one is most.
func usersLog(n int, busy string, others ...string) (log []*kgo.Record) {
	for i := range int64(n) {
		user := busy
		if i%5 == 4 && len(others) > 0 {
			user = others[int(i/5)%len(others)]
		}
		log = append(log, userRecord(user, i))
	}
	return log
}

func (f *floor) read(log []*kgo.Record) {
	var jobs []*Job
	for _, r := range log {
		jobs = append(jobs, NewJob(r))
	}
	f.Take(crm, jobs)
}

// reread serves what is to be read once more from a log, n records at a time, until
// nothing is.
func (f *floor) reread(log []*kgo.Record, n int) {
	for len(f.sought) > 0 {
		r := f.sought[0]
		f.sought = f.sought[1:]
		found := log[r.From:min(int(r.From)+n, len(log))]
		if again := f.Bring(r, found, r.From+int64(len(found))); again != nil {
			f.sought = append(f.sought, again)
		}
	}
}

// nextOf is which of what is in flight ends next: the others' first, as far as they are
// known.
func (f *floor) nextOf(busy string) int {
	return max(slices.IndexFunc(f.flying, func(j *Job) bool { return j.key != busy }), 0)
}

func TestAUserThatFillsTheQueueIsSetAside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no attempt takes any time
		f := newFloor(t, quota.Limits{Each: 2, Total: 10})
		f.own("crm", 0)
		log := usersLog(2000, "busy", "ann", "bob", "cid")
		f.read(log)
		if f.isPaused(crm.Topic) {
			t.Fatal("the topic is paused for one user")
		}
		var order, want []string
		for i := range log {
			f.reread(log, 50)
			f.withinMemory(f.queues.Of("crm"))
			j := f.flying[f.nextOf("busy")]
			if got := f.committable(); j.key == "busy" && got > int64(len(order)*5) {
				t.Fatalf("offset %d would be committed when %d of the busy user's events are finished", got, len(order))
			}
			if j.key == "busy" {
				order = append(order, string(j.Record.Value))
			}
			if i%5 != 4 {
				want = append(want, strconv.Itoa(i))
			}
			f.end(f.nextOf("busy"))
		}
		if !slices.Equal(order, want) {
			t.Errorf("the busy user's events came as %v", order)
		}
		if got := f.committable(); got != int64(len(log)) || len(f.flying) > 0 || f.parts[crm].AsideKeys() > 0 {
			t.Errorf("in the end %d would be committed, %d are in flight, %d keys are set aside", got, len(f.flying), f.parts[crm].AsideKeys())
		}
	})
}

// withinMemory holds what is in memory against what pauses a topic, and an event for
// each key that is set aside.
func (f *floor) withinMemory(q *queues.Queue[*Job]) {
	f.t.Helper()
	if high, _ := f.queues.Marks(q); q.Bytes > high || q.AsideBytes > high+q.AsideKeys*1000 {
		f.t.Fatalf("%d bytes and %d of %d keys that are set aside are in memory, the limit is %d", q.Bytes, q.AsideBytes, q.AsideKeys, high)
	}
}

// TestNoMoreKeysAreSetAsideThanACommitHolds: what comes beyond them pauses the topic.
func TestNoMoreKeysAreSetAsideThanACommitHolds(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 1, Total: 10})
	f.own("crm", 0)
	offset := int64(0)
	for user := 0; !f.isPaused(crm.Topic); user++ {
		if user > 2*offsets.MaxAside {
			t.Fatalf("%d users have far more than their share, and the topic is not paused", user)
		}
		var log []*kgo.Record
		for range 200 {
			log = append(log, userRecord(fmt.Sprint("user", user), offset))
			offset++
		}
		f.read(log)
	}
	if keys := f.parts[crm].AsideKeys(); keys > offsets.MaxAside || f.queues.Of("crm").AsideKeys != keys {
		t.Errorf("%d keys are set aside, %d on account, at most %d may be", keys, f.queues.Of("crm").AsideKeys, offsets.MaxAside)
	}
	if all := f.Watermarks(nil); len(all) > 0 && len(all[0].Done) > offsets.MaxEncoded {
		t.Errorf("a commit would have %d bytes of metadata", len(all[0].Done))
	}
}

// TestManyBusyUsersShareTheMemory: each has an event there at least, and all of them
// what pauses a topic at most.
func TestManyBusyUsersShareTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFloor(t, quota.Limits{Each: 1, Total: 10})
		f.own("crm", 0)
		const users, each = 40, 200
		var log []*kgo.Record
		for user := range users {
			for range each {
				log = append(log, userRecord(fmt.Sprint("user", user), int64(len(log))))
			}
			f.read(log[user*each:])
			q := f.queues.Of("crm")
			for q.Bytes > 8<<10 { // the next is not to find the queue full of the last
				f.end(0)
				f.reread(log, 100)
			}
			f.withinMemory(q)
		}
		if keys := f.queues.Of("crm").AsideKeys; keys < users/4 {
			t.Errorf("%d keys are set aside, expected many of %d", keys, users)
		}
		for len(f.flying) > 0 {
			f.end(0)
			f.reread(log, 100)
		}
		if got := f.committable(); got != int64(len(log)) {
			t.Errorf("in the end %d would be committed, want %d", got, len(log))
		}
	})
}

// TestTheBacklogCountsWhatIsSetAside: it is neither finished nor unread.
func TestTheBacklogCountsWhatIsSetAside(t *testing.T) {
	f := newFloor(t, quota.Limits{Each: 1, Total: 10})
	f.own("crm", 0)
	log := usersLog(1000, "busy")
	f.read(log)
	b := f.Progress()[0]
	if b.Records != 1000 || b.AsideKeys != 1 || b.AsideRecords < 800 || b.AsideRecords > 1000 {
		t.Errorf("backlog %+v, want 1000 records, most of them of one key set aside", b)
	}
	f.reread(log, 30)
	if again := f.Progress()[0]; again.Records != 1000 {
		t.Errorf("backlog %+v after some were brought, want 1000 records", again)
	}
	done := f.Watermarks(nil)
	if len(done) != 1 {
		t.Fatalf("%d watermarks, want one: reading has come further", len(done))
	}
	if aside := offsets.Decode(done[0].At.Offset, done[0].Done).Aside(); len(aside) != 1 || aside[0].Count != b.AsideRecords {
		t.Errorf("the commit tells of %+v, want %d events", aside, b.AsideRecords)
	}
}
