package group

import (
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/anabranch/anabranch/webhook-sink/internal/offsets"
	"github.com/anabranch/anabranch/webhook-sink/internal/partition"
)

// TestCommitsThatTheBrokersHaveLost: the group is back at an earlier commit of ours, as
// after a crash of its coordinator.
func TestCommitsThatTheBrokersHaveLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.Memory = new(Memory)
		place := partition.Place{Topic: topic}
		b.Dispatcher.Assign(one(), nil)
		b.Dispatcher.Identify(place, b.id())
		b.take(1, 2, 3, 4, 5)
		b.finish(1)
		earlier := b.Dispatcher.Watermarks(nil)
		b.finish(2, 3, 5)
		b.CommitLast(t.Context(), nil)
		if got := b.committed(); got != 4 {
			t.Fatalf("committed %d, want 4", got)
		}
		if a := b.send(t.Context(), b.identity(), earlier); a.err != nil || b.committed() != 2 {
			t.Fatalf("committed %d, want 2: %v", b.committed(), a.err)
		}
		done := b.FinishedBefore(t.Context(), one())[place]
		if !done.Contains(5, 0) || done.Contains(4, 0) {
			t.Errorf("finished before: %v, want what the last commit said", done)
		}
		if got, want := b.begin(2), kgo.NewOffset().At(4).WithEpoch(0); got != want {
			t.Errorf("reading begins at %v, want %v", got, want)
		}
	})
}

func TestWhatIsRememberedOfCommits(t *testing.T) {
	t.Parallel()
	id, other := offsets.TopicID{1}, offsets.TopicID{2}
	for name, c := range map[string]struct {
		last  partition.Watermark
		shown commit
		want  bool
	}{
		"the group went back":     {partition.Watermark{ID: id, At: kgo.EpochOffset{Offset: 9, Epoch: 3}}, commit{5, 3, offsets.OriginOf(id)}, true},
		"another sink went on":    {partition.Watermark{ID: id, At: kgo.EpochOffset{Offset: 9, Epoch: 3}}, commit{12, 3, offsets.OriginOf(id)}, false},
		"nothing has changed":     {partition.Watermark{ID: id, At: kgo.EpochOffset{Offset: 9, Epoch: 3}}, commit{9, 3, offsets.OriginOf(id)}, false},
		"an offset set by hand":   {partition.Watermark{ID: id, At: kgo.EpochOffset{Offset: 9, Epoch: 3}}, commit{5, -1, 0}, false},
		"the topic is another":    {partition.Watermark{ID: id, At: kgo.EpochOffset{Offset: 9, Epoch: 3}}, commit{5, 3, offsets.OriginOf(other)}, false},
		"the epoch is not known":  {partition.Watermark{ID: id, At: kgo.EpochOffset{Offset: 9, Epoch: -1}}, commit{5, 3, offsets.OriginOf(id)}, false},
		"brokers that have no id": {partition.Watermark{At: kgo.EpochOffset{Offset: 9, Epoch: 3}}, commit{5, 3, 0}, false},
	} {
		var m Memory
		m.note([]partition.Watermark{c.last})
		if got, ok := m.beyond(partition.Place{}, c.shown); ok != c.want || ok && got.at != c.last.At {
			t.Errorf("%s: goes on behind %v: %t, want %t", name, got.at, ok, c.want)
		}
	}
}
