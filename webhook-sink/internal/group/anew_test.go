package group

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/anabranch/anabranch/test/virtual"
	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

func TestStale(t *testing.T) {
	t.Parallel()
	const old, anew, unsaid = offsets.Origin(1), offsets.Origin(2), offsets.Origin(0)
	for name, c := range map[string]struct {
		commit commit
		now    present
		want   bool
	}{
		"no commit":                                   {commit{-1, -1, unsaid}, present{anew, 0, 0}, false},
		"a commit of nothing":                         {commit{0, -1, unsaid}, present{anew, 0, 0}, false},
		"of this topic":                               {commit{5, 0, old}, present{old, 0, 9}, false},
		"of this topic, which lost its tail":          {commit{5, 0, old}, present{old, 1, 3}, false},
		"of another topic":                            {commit{5, 0, old}, present{anew, 0, 3}, true},
		"of another topic that has come further":      {commit{5, 0, old}, present{anew, 0, 9}, true},
		"without ids, within the log":                 {commit{5, 0, unsaid}, present{unsaid, 0, 5}, false},
		"without ids, beyond the end":                 {commit{5, 0, unsaid}, present{unsaid, 0, 3}, true},
		"without ids, the end is not known":           {commit{5, 0, unsaid}, present{unsaid, 0, -1}, false},
		"without ids, beyond the end of a new leader": {commit{5, 0, unsaid}, present{unsaid, 1, 3}, false},
		"the commit alone says nothing":               {commit{5, 0, unsaid}, present{anew, 0, 3}, true},
		"the brokers alone say nothing":               {commit{5, 0, old}, present{unsaid, 0, 9}, false},
	} {
		if got := stale(c.commit, c.now); got != c.want {
			t.Errorf("%s: stale = %t, want %t", name, got, c.want)
		}
	}
}

// id is the topic's at present.
func (b *bench) id() offsets.TopicID {
	b.t.Helper()
	topics, err := b.describe(b.t.Context(), []string{topic})
	if err != nil || len(topics) != 1 {
		b.t.Fatalf("describe %s: %v, %v", topic, topics, err)
	}
	return topics[0].TopicID
}

// makeAnew deletes the topic and creates it again; meanwhile does what comes between.
func (b *bench) makeAnew(meanwhile func()) {
	b.t.Helper()
	if err := b.fake.DeleteTopic(topic); err != nil {
		b.t.Fatal(err)
	}
	meanwhile()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = []kmsg.CreateTopicsRequestTopic{{Topic: topic, NumPartitions: 1, ReplicationFactor: 1}}
	resp, err := req.RequestWith(b.t.Context(), b.Client)
	if err != nil || resp.Topics[0].ErrorCode != 0 {
		b.t.Fatalf("create %s: %v, %v", topic, resp, err)
	}
}

// byName has commits name topics by name, as brokers before Apache Kafka 4.1 want it.
func byName() kgo.Opt {
	v := kversion.Stable()
	v.SetMaxKeyVersion(kmsg.OffsetCommit.Int16(), 9)
	return kgo.MaxVersions(v)
}

// TestWhatWasFinishedOfADeletedTopic is not committed for the one that bears its name
// afterwards: by id never, by name not once a commit has met that the topic is gone.
func TestWhatWasFinishedOfADeletedTopic(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts      []kgo.Opt
		meanwhile func(*bench)
	}{
		"by id":                   {nil, func(*bench) {}},
		"by id, met in between":   {nil, func(b *bench) { b.commit(b.t.Context(), nil) }},
		"by name, met in between": {[]kgo.Opt{byName()}, func(b *bench) { b.commit(b.t.Context(), nil) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, c.opts...)
				b.Dispatcher.Assign(one(), nil)
				b.Dispatcher.Identify(partition.Place{Topic: topic}, b.id())
				b.take(1, 2, 3)
				b.finish(1, 2, 3)
				b.makeAnew(func() { c.meanwhile(b) })
				b.CommitLast(t.Context(), nil)
				if got := b.committed(); got != -1 {
					t.Errorf("committed %d of the new topic, of which nothing was delivered", got)
				}
				if len(b.gone) != 1 || b.gone[0] != topic {
					t.Errorf("told of %v, want %s once", b.gone, topic)
				}
			})
		})
	}
}

// TestATopicThatWasFetchedWithoutAnID is committed under the id that it has.
func TestATopicThatWasFetchedWithoutAnID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Dispatcher.Assign(one(), nil)
		b.take(1)
		b.finish(1)
		b.CommitLast(t.Context(), nil)
		if got := b.committed(); got != 2 {
			t.Errorf("committed %d, want 2", got)
		}
	})
}

// TestACommitOfAnEarlierTopic is found under the name of one made anew: a late commit
// by name was the last to arrive. Neither its offset nor what it says of records
// beyond holds for the new topic.
func TestACommitOfAnEarlierTopic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, byName())
		old := b.id()
		b.makeAnew(func() {})
		virtual.Sleep(time.Minute) // for the client to forget the old id
		b.Dispatcher.Assign(one(), nil)
		b.Dispatcher.Identify(partition.Place{Topic: topic}, old)
		b.take(1, 2, 3)
		b.finish(1, 3)
		b.CommitLast(t.Context(), nil)
		if got := b.committed(); got != 2 {
			t.Fatalf("committed %d, want the late commit of 2", got)
		}
		if before := b.FinishedBefore(t.Context(), one()); len(before) != 0 {
			t.Errorf("finished before: %v, want nothing", before)
		}
		if got, want := b.begin(2), kgo.NewOffset().AtStart(); got != want {
			t.Errorf("reading begins at %v, want %v", got, want)
		}

		b.Dispatcher.Identify(partition.Place{Topic: topic}, b.id())
		b.finish(2)
		b.CommitLast(t.Context(), nil)
		b.FinishedBefore(t.Context(), one())
		if got, want := b.begin(4), kgo.NewOffset().At(4); got != want {
			t.Errorf("with a commit of its own, reading begins at %v, want %v", got, want)
		}
	})
}

// begin is where reading begins when the group's offset is at.
func (b *bench) begin(at int64) kgo.Offset {
	b.t.Helper()
	all, err := b.Begin(b.t.Context(), map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(at)}})
	if err != nil {
		b.t.Fatal(err)
	}
	return all[topic][0]
}
