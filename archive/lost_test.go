package archive

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/anabranch/anabranch/archive/internal/cut"
	"github.com/anabranch/anabranch/archive/internal/group"
	"github.com/anabranch/anabranch/internal/kafka"
	"github.com/anabranch/anabranch/internal/objects"
	"github.com/anabranch/anabranch/test/testkit"
)

// commit sets what the group has for partition 0 of a topic, while nobody is in it.
func (b *bench) commit(topic string, mark cut.Mark) {
	b.t.Helper()
	ids, err := group.IDs(b.t.Context(), b.client, topic)
	if err != nil {
		b.t.Fatal(err)
	}
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.Metadata = mark.From, new(mark.Metadata(ids[topic]))
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic, t.TopicID, t.Partitions = topic, ids[topic], append(t.Partitions, p)
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Topics = Group, append(req.Topics, t)
	resp, err := req.RequestWith(b.t.Context(), b.client)
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		b.t.Fatalf("commit %v: %v", mark, err)
	}
}

// TestARangeThatLostItsBeginning between its announcement and the next process: what was
// stored is kept, what was not has what is left, and what is lost is told.
func TestARangeThatLostItsBeginning(t *testing.T) {
	t.Parallel()
	d := cold("cold", t.TempDir(), 1<<20)
	b := newBench(t, testkit.Brokers(t), 1, d)
	b.produce(d.Topic(), 1, 30)
	stop := b.run(b.make())
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "all is archived")
	stop()
	whole := archived(t, d.Archive.Directory)

	// As if it had been killed behind the objects of one source.
	b.commit(d.Topic(), cut.Mark{To: 30})
	next := cold("cold", t.TempDir(), 1<<20)
	m := b.make()
	kept, err := m.places.of(objects.PlaceOf(next.Archive))
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range whole {
		if strings.HasPrefix(name, "app/") {
			if err := kept.Put(t.Context(), name, body); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.cluster.DeleteBefore(t, d.Topic(), 20)
	b.live.Store(snapshot(next))
	b.run(m)
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "the rest is archived")
	after := archived(t, next.Archive.Directory)
	if got, want := slices.Sorted(maps.Keys(after)), slices.Sorted(maps.Keys(whole)); !slices.Equal(got, want) {
		t.Fatalf("objects %v, want %v", got, want)
	}
	for name, body := range whole {
		before, now := linesOf(t, body), linesOf(t, after[name])
		if !strings.HasPrefix(name, "app/") {
			before = before[len(before)-len(now):]
		}
		if !slices.Equal(before, now) || len(now) == 0 {
			t.Errorf("%s: %d lines, want the last ones of %d", name, len(now), len(before))
		}
	}
	if lost := testkit.Series(t, m.registry, "anabranch_archive_lost_offsets_total", "deleted", "deliver.archive"); lost != 20 {
		t.Errorf("%v offsets are counted as lost, want 20", lost)
	}
	if m.logs.Count("were deleted while they were being archived") != 1 {
		t.Errorf("nobody says so:\n%s", m.logs)
	}
}

// TestWhatRetentionTakes before it is archived is an error, and counted.
func TestWhatRetentionTakes(t *testing.T) {
	t.Parallel()
	d := cold("cold", t.TempDir(), 1<<20)
	b := newBench(t, testkit.Brokers(t), 1, d)
	b.produce(d.Topic(), 1, 10)
	stop := b.run(b.make())
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "all is archived")
	stop()
	b.produce(d.Topic(), 1, 10)
	b.cluster.DeleteBefore(t, d.Topic(), 15)
	m := b.make()
	b.run(m)
	testkit.Until(t, func() bool { return b.done(d.Topic()) }, "the rest is archived")
	if lost := testkit.Series(t, m.registry, "anabranch_archive_lost_offsets_total", "deleted", "deliver.archive"); lost != 5 {
		t.Errorf("%v offsets are counted as lost, want 5", lost)
	}
	if m.logs.Count("DELIVER_TOPIC_RETENTION") != 1 || m.logs.Count("level=ERROR") != 1 {
		t.Errorf("want one error about it:\n%s", m.logs)
	}
}

// TestMarksThatAreNotOurs: an offset that was set by hand is the last word, one of an earlier
// topic is none.
func TestMarksThatAreNotOurs(t *testing.T) {
	t.Parallel()
	d := cold("cold", t.TempDir(), 1<<20)
	b := newBench(t, testkit.Brokers(t), 1, d)
	b.produce(d.Topic(), 1, 10)
	at := kafka.Partition{Topic: d.Topic()}
	s := &session{Archive: b.make().Archive}
	ours, other := cut.TopicID{1}, cut.TopicID{2}
	extent := kafka.Extent{Start: 2, End: 10}
	for what, c := range map[string]struct {
		commit *kafka.Commit
		want   cut.Mark
	}{
		"none":                {nil, cut.Mark{From: 2}},
		"by hand":             {&kafka.Commit{Offset: 5}, cut.Mark{From: 5}},
		"of somebody else":    {&kafka.Commit{Offset: 5, Metadata: "reset"}, cut.Mark{From: 5}},
		"ours":                {&kafka.Commit{Offset: 5, Metadata: cut.Mark{From: 5, To: 7}.Metadata(ours)}, cut.Mark{From: 5, To: 7}},
		"of an earlier topic": {&kafka.Commit{Offset: 5, Metadata: cut.Mark{From: 5, To: 7}.Metadata(other)}, cut.Mark{From: 2}},
		"beyond the end":      {&kafka.Commit{Offset: 50, Metadata: cut.Mark{From: 50}.Metadata(ours)}, cut.Mark{From: 10}},
	} {
		commits := make(map[int32]kafka.Commit)
		if c.commit != nil {
			commits[0] = *c.commit
		}
		if got := s.markOf(at, commits, ours, extent); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	if id := hex.EncodeToString(ours[:]); !strings.Contains(cut.Mark{}.Metadata(ours), id) {
		t.Errorf("the metadata lacks %s", id)
	}
}
