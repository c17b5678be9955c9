package webhooksink

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// members waits until the group is stable with n members that have partitions.
func (p *plant) members(n int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	_, err := p.cluster.Fake.WaitGroupInfo(ctx, Group, func(g *kfake.GroupInfo) bool {
		if g == nil || g.State != "Stable" || len(g.Members) != n {
			return false
		}
		for i := range g.Members {
			if g.Members[i].NumAssigned() == 0 {
				return false
			}
		}
		return true
	})
	if err != nil {
		p.t.Fatalf("wait for %d members: %v", n, err)
	}
}

// TestMembersComeAndGo: nothing is lost and nothing is delivered twice, while
// events come in all the time.
func TestMembersComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, partitions = 3000, 6
		p := newPlant(t, testkit.Virtual(t), partitions, destination("crm"))
		l := newLedger(150 * time.Millisecond)
		l.answer = func(_, messageID string, attempt int) outcome.Outcome {
			if messageID[len(messageID)-1] == '3' && attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		produced := make(chan struct{})
		go func() {
			defer close(produced)
			for _, r := range spread(n, partitions) {
				p.write(r)
				virtual.Sleep(10 * time.Millisecond)
			}
		}()
		first := p.start(l.attempt).ready()
		p.members(1)
		second := p.start(l.attempt)
		p.members(2)
		virtual.Sleep(3 * time.Second)
		third := p.start(l.attempt)
		p.members(3)
		virtual.Sleep(3 * time.Second)
		first.end()
		p.members(2)
		virtual.Sleep(3 * time.Second)
		third.end()
		p.members(1)
		<-produced
		testkit.Until(t, func() bool { return distinct(l.all()) == n }, "all events to be delivered")
		second.end()
		l.once(t, ids("e", n))
	})
}

// TestALateCompletionDoesNotCommitAPartitionOfAnother: an attempt outlasts the
// revocation of its partition by far. The new owner has not finished the event,
// so its offset must stand.
func TestALateCompletionDoesNotCommitAPartitionOfAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const partitions = 2
		p := newPlant(t, testkit.Virtual(t), partitions, destination("crm"))
		for n := range int32(partitions) {
			p.write(event("crm", fmt.Sprintf("user-%d", n), fmt.Sprintf("hangs-%d", n), n))
		}
		stuck := newLedger(time.Minute)
		first := p.start(stuck.attempt).ready()
		testkit.Until(t, func() bool { return stuck.inFlight("crm") == partitions }, "attempts to hang")
		again := newLedger(time.Hour)
		second := p.start(again.attempt)
		p.members(2)
		testkit.Until(t, func() bool { return again.inFlight("crm") == 1 }, "the new owner to attempt what was never finished")
		virtual.Sleep(2 * time.Minute) // the first member's attempts end
		if got := distinct(stuck.all()); got != partitions {
			t.Fatalf("%d late attempts ended, expected %d", got, partitions)
		}
		committed := p.committed(0) + p.committed(1)
		if committed != 1 {
			t.Errorf("the two partitions are committed up to %d, expected 1: only one of them is still the first member's", committed)
		}
		second.kill()
		first.end()
	})
}

// TestALostSessionLosesNothing: the group forgets the member, which then has its
// partitions taken away without being asked.
func TestALostSessionLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 500
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		p.write(spread(n, 2)...)
		l := newLedger(500 * time.Millisecond)
		r := p.start(l.attempt).ready()
		for range 3 {
			testkit.Until(t, func() bool { return l.inFlight("crm") > 0 }, "attempts to be in flight")
			fault := p.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: Group, TopLevel: true, Err: kerr.UnknownMemberID})
			if err := fault.Wait(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Until(t, func() bool { return distinct(l.all()) == n }, "all events to be delivered")
		virtual.Sleep(2 * time.Second)
		for partition := range int32(2) {
			if got := p.committed(partition); got != n/2 {
				t.Errorf("committed of partition %d is %d, expected %d", partition, got, n/2)
			}
		}
		r.end()
	})
}

// TestAPauseDoesNotOutliveARebalance: a destination with a long queue is paused
// when its partitions move, and delivered to the end wherever they go.
func TestAPauseDoesNotOutliveARebalance(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n, partitions = 9000, 2
		p := newPlant(t, testkit.Virtual(t), partitions, destination("crm"))
		p.write(spread(n, partitions)...)
		slow := newLedger(100 * time.Millisecond)
		first := p.start(slow.attempt).ready()
		testkit.Until(t, func() bool { return first.metric("queue_bytes") > 1<<20 }, "the queue to be full")
		second := p.start(slow.attempt)
		p.members(2)
		second.end()
		p.members(1)
		testkit.Until(t, func() bool { return distinct(slow.all()) == n }, "all events to be delivered")
		first.end()
		slow.once(t, ids("e", n))
	})
}

// TestTwoSinksOfOneName: the second takes the first one's place, and the first
// says why it ends.
func TestTwoSinksOfOneName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(0)
		first := p.start(l.attempt, static("same")).ready()
		second := p.start(l.attempt, static("same")).ready()
		select {
		case err := <-first.result:
			if err == nil {
				t.Error("the first sink ended without an error")
			}
		case <-time.After(time.Minute):
			t.Error("both sinks run under one name")
			first.end()
		}
		p.produce("crm", "user", "m1")
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the second sink to deliver")
		second.end()
	})
}

// TestACommitDoesNotWaitForAJoin: a member is gone without a word, and another
// joins, so the group waits for the session of the first to end. What the third
// finishes in these seconds is committed all the same: a kill would repeat it.
func TestACommitDoesNotWaitForAJoin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 50
		p := newPlant(t, testkit.Virtual(t), 2, destination("crm"))
		p.commitEvery = config.CommitEvery
		l := newLedger(10 * time.Millisecond)
		first := p.start(l.attempt, static("first")).ready()
		second := p.start(l.attempt, static("second")).ready()
		p.members(2)
		first.kill()
		third := p.start(l.attempt, static("third"))
		virtual.Sleep(2 * time.Second)
		p.write(spread(2*n, 2)...)
		virtual.Sleep(time.Second)
		if g := p.cluster.Fake.GroupInfo(Group); g.State != "PreparingRebalance" {
			t.Fatalf("the group is %s, expected it to wait for the first member", g.State)
		}
		if got := max(p.committed(0), p.committed(1)); got != n {
			t.Errorf("committed %d of the second member's partition, expected %d", got, n)
		}
		began := time.Now()
		second.end()
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("stopping took %s in the midst of a join", took)
		}
		testkit.Until(t, func() bool { return distinct(l.all()) == 2*n }, "the third member to deliver the rest")
		third.end()
		l.once(t, ids("e", 2*n))
	})
}
