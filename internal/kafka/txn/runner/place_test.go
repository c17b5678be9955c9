package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/test/testkit"
)

// told is a runner that is told where to begin.
func (b *bench) told(t *testing.T, start string) *running {
	t.Helper()
	return b.runner(t, func(set *Settings) { set.Start.Value = start })
}

// later waits for another millisecond than the present one.
func later(t *testing.T) {
	t.Helper()
	now := time.Now().UnixMilli()
	testkit.Until(t, func() bool { return time.Now().UnixMilli() > now }, "the clock to tick")
}

// processSome has a router route n events and stop.
func (b *bench) processSome(t *testing.T, name string, n int) {
	t.Helper()
	b.some(t, name, n)
	stop := start(t, b.runner(t))
	b.passed(t)
	stop()
}

func (b *bench) admin(t *testing.T) *kadm.Client { t.Helper(); return kadm.NewClient(b.Client(t)) }

func (b *bench) deleteGroups(t *testing.T, groups ...string) {
	t.Helper()
	deleted, err := b.admin(t).DeleteGroups(t.Context(), groups...)
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestAGroupWithoutItsOffsetsGoesOnAtTheirCopy: brokers forget the offsets of a group
// whose members were away for a week, and people delete groups.
func TestAGroupWithoutItsOffsetsGoesOnAtTheirCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.processSome(t, "before", 30)
	b.deleteGroups(t, group)
	b.some(t, "away", 20)
	r := b.told(t, "auto")
	start(t, r)
	b.passed(t)
	b.copiedOnce(t, 50)
	if r.logs.Count("processing continues from the copy") == 0 || r.Ready() != nil {
		t.Errorf("ready: %v, log:\n%s", r.Ready(), r.logs)
	}
}

// TestAPartitionWithoutItsOffsetGoesOnAtItsCopy, beside others that have theirs.
func TestAPartitionWithoutItsOffsetGoesOnAtItsCopy(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.processSome(t, "before", 30)
	var one kadm.TopicsSet
	one.Add(source, 1)
	if _, err := b.admin(t).DeleteOffsets(t.Context(), group, one); err != nil {
		t.Fatal(err)
	}
	b.some(t, "away", 20)
	start(t, b.runner(t))
	b.passed(t)
	b.copiedOnce(t, 50)
}

// TestAnOffsetBeyondTheEndGoesOnBehindIt: a log lost its tail in a power failure, or
// is another topic's by now, which a commit says, and the group's offset did not follow.
func TestAnOffsetBeyondTheEndGoesOnBehindIt(t *testing.T) {
	t.Parallel()
	for name, anew := range map[string]bool{"tail lost": false, "made anew": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t))
			b.processSome(t, "before", 30)
			commits, err := b.admin(t).FetchOffsets(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			const beyond = 100
			if anew {
				if err := b.Fake.DeleteTopic(source); err != nil {
					t.Fatal(err)
				}
				b.CreateTopics(t, 3, source)
				b.client = b.Client(t) // knows the new id
			}
			// What comes before the router is back must not be passed over.
			later(t) // no broker fails and comes back within a millisecond
			b.some(t, "meanwhile", 10)
			var offsets kadm.Offsets
			commits.Each(func(o kadm.OffsetResponse) {
				o.At, o.LeaderEpoch = o.At+beyond, -1
				offsets.Add(o.Offset)
			})
			if err := b.admin(t).CommitAllOffsets(t.Context(), group, offsets); err != nil {
				t.Fatal(err)
			}
			r := b.told(t, "auto")
			start(t, r)
			word := "beyond the end"
			if anew {
				word = "created again since"
			}
			testkit.Until(t, func() bool { return r.logs.Count(word) == 3 }, "a word on each partition")
			if n := lost(t, r, "truncated"); n < 3 && !anew {
				t.Errorf("%v offsets are counted as truncated, want one of each partition at least", n)
			}
			b.some(t, "after", 10)
			b.copiedOnce(t, 50)
		})
	}
}

// TestATopicMadeAnewWhileNoRouterRuns is routed from its first event, as where it was
// made anew for more partitions: its group's offsets went with it.
func TestATopicMadeAnewWhileNoRouterRuns(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]int{"empty": 0, "calls came before the router": 12} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t))
			b.processSome(t, "before", 20)
			b.deleteGroups(t, group, copied)
			if err := b.Fake.DeleteTopic(source); err != nil {
				t.Fatal(err)
			}
			b.CreateTopics(t, 5, source)
			b.client = b.Client(t) // knows the new id
			later(t)
			b.some(t, "meanwhile", meanwhile)
			r := b.told(t, "auto")
			start(t, r)
			testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to be ready")
			b.some(t, "after", 10)
			b.copiedOnce(t, 30+meanwhile)
		})
	}
}

// TestANewInstallationBeginsWithTheFirstEvent whatever COPIER_START says: ingest took
// calls before a router was there.
func TestANewInstallationBeginsWithTheFirstEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.some(t, "first", 20)
	start(t, b.told(t, "end"))
	b.copiedOnce(t, 20)
}

// TestTheFirstEventsOfAPartitionAreRouted: there was no commit for it, and nothing to
// commit, when the router was there last.
func TestTheFirstEventsOfAPartitionAreRouted(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.client = b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.processSome(t, "on partition 0", 5)
	rec := event("on partition 2", 1)
	rec.Partition = 2
	b.send(t, rec)
	start(t, b.told(t, "end"))
	b.copiedOnce(t, 6)
}

// TestNothingIsKnown of what was routed: the router waits to be told, and goes on when
// any router was.
func TestNothingIsKnown(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]int{"end": 5, "first": 40, "time": 15} {
		t.Run(say, func(t *testing.T) {
			t.Parallel()
			c := testkit.Fake(t)
			b := newBench(t, c)
			b.processSome(t, "before", 25)
			later(t)
			since := time.Now()
			b.some(t, "away", 10)
			b.deleteGroups(t, group, copied)

			r := b.told(t, "auto")
			start(t, r)
			testkit.Until(t, func() bool {
				r.lookOnce(t.Context())
				err := r.Ready()
				return err != nil && strings.Contains(err.Error(), "COPIER_START") && r.logs.Count("it is unknown which events were processed") > 0
			}, "the router to wait, and to say so")
			b.ReadAll(t, crm, 25) // and no more

			if say == "time" {
				say = since.Format(time.RFC3339Nano)
			}
			other := b.runner(t, func(set *Settings) { set.Start.Value, set.TransactionalID = say, "anabranch-copier-b" })
			start(t, other)
			testkit.Until(t, func() bool {
				r.lookOnce(t.Context())
				return r.Ready() == nil && other.Ready() == nil
			}, "both to know where to begin")
			b.some(t, "after", 5)
			b.ReadAll(t, crm, 25+want)
		})
	}
}

// TestEventsThatWereDeletedUnrouted are counted, once, and said.
func TestEventsThatWereDeletedUnrouted(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Brokers(t))
	b.client = b.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	b.processSome(t, "before", 5)
	b.some(t, "deleted", 4)
	var cut kadm.Offsets
	cut.AddOffset(source, 0, 9, -1)
	if _, err := b.admin(t).DeleteRecords(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	r := b.told(t, "auto")
	start(t, r)
	testkit.Until(t, func() bool { return r.logs.Count("deleted before they were processed") == 1 }, "a word on it")
	if got := lost(t, r, "deleted"); got != 4 {
		t.Errorf("%v events are counted, want 4", got)
	}
	b.some(t, "after", 3)
	b.copiedOnce(t, 8)
}

// TestARouterThatMayNotKeepACopyRoutes, and says so once.
func TestARouterThatMayNotKeepACopyRoutes(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	b.Fake.ControlKey(kmsg.OffsetCommit.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		b.Fake.KeepControl()
		resp := req.ResponseKind().(*kmsg.OffsetCommitResponse)
		for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
			refused := kmsg.NewOffsetCommitResponseTopic()
			refused.Topic = topic.Topic
			for _, p := range topic.Partitions {
				partition := kmsg.NewOffsetCommitResponseTopicPartition()
				partition.Partition, partition.ErrorCode = p.Partition, kerr.GroupAuthorizationFailed.Code
				refused.Partitions = append(refused.Partitions, partition)
			}
			resp.Topics = append(resp.Topics, refused)
		}
		return resp, nil, true
	})
	r := b.told(t, "auto")
	start(t, r)
	b.some(t, "first", 10)
	b.passed(t)
	refused := func() bool { r.lookOnce(t.Context()); return r.logs.Count("can't be written") > 0 }
	testkit.Until(t, refused, "a word on the copy")
	r.lookOnce(t.Context())
	if n := r.logs.Count("docs/brokers.md"); n != 1 || len(r.marks.Unkept()) == 0 {
		t.Errorf("said %d times, want once, and that marks are still to be kept:\n%s", n, r.logs)
	}
	b.copiedOnce(t, 10)
}

// TestAPartitionOfRawEventsWithoutALeader keeps nobody from routing the others, and is
// routed once it has one, whether it was before or not.
func TestAPartitionOfRawEventsWithoutALeader(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int{"never routed": 0, "routed before": 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t))
			if before > 0 {
				b.processSome(t, "before", before)
			}
			b.some(t, "away", 30)
			ends, err := b.topics.Ends(t.Context(), source)
			if err != nil {
				t.Fatal(err)
			}
			restore := b.Leaderless(t, source, 1)
			b.missed(t)
			r := b.runner(t)
			start(t, r)
			routed := func() (n int64) {
				commits, err := b.topics.Commits(t.Context(), group, source)
				if err != nil {
					t.Fatal(err)
				}
				return commits[0].Offset + commits[2].Offset
			}
			testkit.Until(t, func() bool { return routed() == ends[source][0]+ends[source][2] }, "the other partitions to be routed")
			restore()
			testkit.Until(t, func() bool { r.lookOnce(t.Context()); return r.Ready() == nil }, "the router to be ready")
			b.passed(t)
			b.copiedOnce(t, before+30)
		})
	}
}

// TestROUTERSTARTIsForAllPartitions: what is not told of one without a leader would be
// taken for a partition that was never routed, and routed from its first event.
func TestROUTERSTARTIsForAllPartitions(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	b.processSome(t, "before", 30)
	b.deleteGroups(t, group, copied)
	restore := b.Leaderless(t, source, 1)
	b.missed(t)
	r := b.told(t, "end")
	start(t, r)
	testkit.Until(t, func() bool { return r.logs.Count("COPIER_START waits") > 0 }, "the router to say what it waits for")
	restore()
	testkit.Until(t, func() bool { r.lookOnce(t.Context()); return r.Ready() == nil }, "the router to be ready")
	b.some(t, "after", 10)
	b.copiedOnce(t, 40)
}

// missed waits until a partition of raw-events is known to have no leader.
func (b *bench) missed(t *testing.T) {
	t.Helper()
	testkit.Until(t, func() bool {
		extents, err := b.topics.Extents(t.Context(), source)
		return err == nil && len(extents[source]) == 2
	}, "the leader to be missed")
}

// TestOffsetsThatWentBack behind what the brokers had confirmed: a coordinator that is
// loaded after a crash may have forgotten the last commits. Who sets offsets on purpose
// is obeyed.
func TestOffsetsThatWentBack(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"lost by the brokers": true, "set by hand": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, testkit.Fake(t))
			r := b.told(t, "auto")
			stop := start(t, r)
			b.some(t, "first", 20)
			b.passed(t)
			before, err := b.admin(t).FetchOffsets(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			b.some(t, "then", 20)
			b.passed(t)
			stop()

			var back kadm.Offsets
			before.Each(func(o kadm.OffsetResponse) {
				if !lost {
					o.Metadata = ""
				}
				back.Add(o.Offset)
			})
			if err := b.admin(t).CommitAllOffsets(t.Context(), group, back); err != nil {
				t.Fatal(err)
			}
			start(t, r) // the same process, in its next session
			testkit.Until(t, func() bool { return r.Ready() == nil }, "the router to join again")
			b.some(t, "after", 10)
			if !lost {
				b.ReadAll(t, crm, 20+2*20+10)
				return
			}
			b.copiedOnce(t, 50)
			if r.logs.Count("brokers lost offsets of the group") == 0 {
				t.Errorf("nobody is told:\n%s", r.logs)
			}
		})
	}
}

// TestATopicMadeAnewThatHasGrown beyond the offset that a router keeps of the earlier
// one as it ends its session: the group's are deleted with their topic.
func TestATopicMadeAnewThatHasGrown(t *testing.T) {
	t.Parallel()
	b := newBench(t, testkit.Fake(t))
	r := b.told(t, "auto")
	start(t, r)
	b.some(t, "before", 30)
	b.passed(t)
	if err := b.Fake.DeleteTopic(source); err != nil {
		t.Fatal(err)
	}
	b.CreateTopics(t, 3, source)
	b.client = b.Client(t) // knows the new id
	b.some(t, "anew", 90)
	b.passed(t)
	b.copiedOnce(t, 120)
}
