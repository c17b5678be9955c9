package webhooksink

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/internal/waiting"
	"github.com/anabranch/anabranch/internal/workspace"
	"github.com/anabranch/anabranch/schemas"
	"github.com/anabranch/anabranch/test/testkit"
	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/config"
	"github.com/anabranch/anabranch/webhook-sink/internal/outcome"
)

// static makes the sink a static member, so that its successor need not wait for
// its session to time out.
func static(id string) option {
	return func(_ *Config, set *Settings) { set.InstanceID, set.Returns = id, true }
}

// committed is the group's offset of a partition of deliver.crm, 0 when there is
// none.
func (p *plant) committed(partition int32) int64 {
	group := p.cluster.Fake.GroupInfo(Group)
	if group == nil {
		return 0
	}
	return group.Commits["deliver.crm"][partition].Offset
}

// spread makes n events for crm, over all partitions, one key each.
func spread(n int, partitions int32) []*kgo.Record {
	records := make([]*kgo.Record, n)
	for i, messageID := range ids("e", n) {
		records[i] = event("crm", messageID, messageID, int32(i)%partitions)
	}
	return records
}

// TestAKillLosesNothing kills the sink at every stage of its work, five times.
func TestAKillLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 900
		p := newPlant(t, testkit.Virtual(t), 3, destination("crm"))
		p.write(spread(n, 3)...)
		l := newLedger(20 * time.Millisecond)
		l.answer = func(_, messageID string, attempt int) outcome.Outcome {
			if messageID[len(messageID)-1] == '7' && attempt == 1 {
				return failed(schemas.ReasonStatus5xx)
			}
			return outcome.Outcome{Verdict: outcome.Delivered}
		}
		for kills := range 5 {
			r := p.start(l.attempt, static("one"))
			before := len(l.all())
			testkit.Until(t, func() bool { return len(l.all()) >= before+n/8 }, "some events to be delivered")
			virtual.Sleep(time.Duration(kills) * 111 * time.Millisecond)
			r.kill()
		}
		r := p.start(l.attempt, static("one"))
		testkit.Until(t, func() bool { return distinct(l.all()) == n }, "all events to be delivered")
		virtual.Sleep(2 * time.Second) // for the commit
		r.end()
		for partition := range int32(3) {
			if got := p.committed(partition); got != n/3 {
				t.Errorf("committed of partition %d is %d, expected %d", partition, got, n/3)
			}
		}
		p.deadLetters(0)
	})
}

func distinct(all []string) int {
	seen := make(map[string]bool)
	for _, id := range all {
		seen[id] = true
	}
	return len(seen)
}

// TestAKillRepeatsWhatWasNotCommitted: the test above would pass without a kill.
func TestAKillRepeatsWhatWasNotCommitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.write(spread(20, 1)...)
		l := newLedger(time.Millisecond)
		r := p.start(l.attempt, static("one")).ready()
		testkit.Until(t, func() bool { return len(l.all()) == 20 }, "all events to be delivered")
		r.kill()
		r = p.start(l.attempt, static("one"))
		testkit.Until(t, func() bool { return len(l.all()) == 40 }, "all events to be delivered again")
		r.end()
	})
}

// TestACleanStopRepeatsNothing stops the sink again and again in the middle of
// its work.
func TestACleanStopRepeatsNothing(t *testing.T) {
	for _, member := range []string{"", "static"} {
		t.Run("member "+member, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 2000
				p := newPlant(t, testkit.Virtual(t), 3, destination("crm"))
				p.write(spread(n, 3)...)
				l := newLedger(300 * time.Millisecond)
				l.answer = func(_, messageID string, attempt int) outcome.Outcome {
					if messageID[len(messageID)-1] == '3' && attempt == 1 {
						return failed(schemas.ReasonStatus5xx)
					}
					return outcome.Outcome{Verdict: outcome.Delivered}
				}
				for distinct(l.all()) < n {
					r := p.start(l.attempt, static(member)).ready()
					virtual.Sleep(2 * time.Second)
					began := time.Now()
					r.end()
					if took := time.Since(began); took > time.Second {
						t.Fatalf("stopping took %s, expected the 300ms of an attempt and a little", took)
					}
				}
				l.once(t, ids("e", n))
			})
		})
	}
}

// TestAStopCutsWhatOutlastsItsTime: eight seconds are all a stop may take, and
// what was cut is met again.
func TestAStopCutsWhatOutlastsItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.produce("crm", "a", "hangs")
		p.produce("crm", "b", "quick")
		l := newLedger(0)
		stuck := newLedger(time.Hour)
		r := p.start(func(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome {
			if messageID == "hangs" {
				return stuck.attempt(ctx, dest, messageID)
			}
			return l.attempt(ctx, dest, messageID)
		}).ready()
		testkit.Until(t, func() bool { return len(l.all()) == 1 && stuck.inFlight("crm") == 1 }, "one to be delivered and one to hang")
		began := time.Now()
		r.end()
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("stopping took %s, expected at most 8s", took)
		}
		if got := p.committed(0); got != 0 {
			t.Errorf("committed %d, though the record at 0 was cut", got)
		}
		r = p.start(l.attempt)
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "what was cut to be delivered")
		r.end()
		l.once(t, []string{"hangs", "quick"})
	})
}

// TestACleanStopRepeatsNothingOfWhatOvertookOthers: every other event is of one
// user, whose events go one by one, and by the time of the stop two thousand of
// others have overtaken them.
func TestACleanStopRepeatsNothingOfWhatOvertookOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 4000
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		records := spread(n, 1)
		for i := range records {
			if i%2 == 0 {
				records[i].Key = []byte("hot")
			}
		}
		p.write(records...)
		l := newLedger(500 * time.Millisecond)
		r := p.start(l.attempt).ready()
		testkit.Until(t, func() bool { return len(l.all()) > n/2 }, "half of the events to be delivered")
		r.end()
		commit := p.cluster.Fake.GroupInfo(Group).Commits["deliver.crm"][0]
		if commit.Offset > 200 || len(commit.Metadata) > 4096 {
			t.Errorf("committed %d with metadata of %d bytes, expected to be far behind with at most 4096", commit.Offset, len(commit.Metadata))
		}
		l.service = time.Millisecond
		r = p.start(l.attempt)
		testkit.Until(t, func() bool { return distinct(l.all()) == n }, "all events to be delivered")
		r.end()
		l.once(t, ids("e", n))
	})
}

// TestAKillRepeatsTheLastMomentAtMost: one event hangs the whole time, so nothing
// behind it could be committed by an offset alone.
func TestAKillRepeatsTheLastMomentAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 190
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(10 * time.Millisecond)
		receiver := func(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome {
			if messageID == "hangs" {
				waiting.Sleep(ctx, time.Hour)
				return outcome.Outcome{Verdict: outcome.Abandoned}
			}
			return l.attempt(ctx, dest, messageID)
		}
		p.produce("crm", "h", "hangs")
		p.commitEvery = config.CommitEvery // no rebalance comes near
		r := p.start(receiver, static("one")).ready()
		for _, record := range spread(n, 1) {
			p.write(record)
			virtual.Sleep(10 * time.Millisecond) // a hundred a second
		}
		r.kill()
		r = p.start(receiver, static("one")).ready()
		virtual.Sleep(10 * time.Second)
		r.kill()
		if again := len(l.all()) - distinct(l.all()); distinct(l.all()) != n || again < 1 || again > 10 {
			t.Errorf("%d events delivered, %d of them again; expected %d, and those of the last 60 ms or so again", distinct(l.all()), again, n)
		}
	})
}

// TestUnreadableProgressIsRepeated: when the broker does not say what was finished
// beyond its offsets, that is delivered again, and nothing else is wrong.
func TestUnreadableProgressIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		l := newLedger(10 * time.Millisecond)
		receiver := func(ctx context.Context, dest *workspace.Destination, messageID string) outcome.Outcome {
			if messageID == "hangs" && !waiting.Sleep(ctx, time.Hour) {
				return outcome.Outcome{Verdict: outcome.Abandoned}
			}
			return l.attempt(ctx, dest, messageID)
		}
		p.produce("crm", "h", "hangs")
		p.produce("crm", "a", "overtakes")
		r := p.start(receiver).ready()
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "an event to overtake another")
		r.end()
		fault := p.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Group: Group, Err: kerr.GroupAuthorizationFailed})
		r = p.start(receiver).ready()
		testkit.Until(t, func() bool { return len(l.all()) == 2 }, "it to be delivered again")
		r.end()
		if fault.Hits() != 1 {
			t.Errorf("%d requests failed, expected 1", fault.Hits())
		}
	})
}

// TestAStartAgainstABrokerThatRefuses: the topics can't be created at first.
func TestAStartAgainstABrokerThatRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlant(t, testkit.Virtual(t), 1, destination("crm"))
		p.cluster.Fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.PolicyViolation, Count: 3})
		p.produce("crm", "user", "m1")
		l := newLedger(0)
		r := p.start(l.attempt)
		testkit.Until(t, func() bool { return len(l.all()) == 1 }, "the event to be delivered")
		r.end()
	})
}
